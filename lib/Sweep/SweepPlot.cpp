//===- SweepPlot.cpp - A sweep as a picture -------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SweepParts.h"

#include "autopar/Support/Limits.h"
#include "autopar/Support/Text.h"
#include "autopar/Support/TextTables.h"
#include "autopar/Write/ReportColumns.h"

#include <algorithm>
#include <map>

using namespace autopar;
using namespace autopar::placement;
using namespace autopar::program;
using namespace autopar::report;
using namespace autopar::schedule;
using namespace autopar::sweep;
using namespace autopar::writing;

std::vector<std::string> autopar::sweep::plotColumns() {
  std::vector<std::string> keys;
  for (const ReportColumn &column : reportColumns())
    if (column.unit > 0)
      keys.emplace_back(column.key);
  return keys;
}

/// Returns the index of the first varying axis of numbers.
static size_t acrossAxis(const std::vector<SweepAxis> &axes) {
  return std::find_if(axes.begin(), axes.end(),
                      [](const SweepAxis &axis) {
                        return axis.varies() && axis.isNumber();
                      }) -
         axes.begin();
}

std::optional<Error>
autopar::sweep::checkPlot(const std::vector<SweepAxis> &axes) {
  size_t across = acrossAxis(axes), lines = 1;
  if (across == axes.size())
    return Error{"", "a plot needs numbers to go over",
                 "as in --batch=1..256, --context=4k|32k or --devices=8..64"};
  for (size_t i = 0; i < axes.size(); ++i)
    if (i != across)
      lines *= axes[i].values.size();
  if (lines <= limits::maxPlotSeries)
    return std::nullopt;
  return Error{"",
               "the plot would have " + countOf(lines, "line") + ", at most " +
                   std::to_string(limits::maxPlotSeries) + " can be told apart",
               "give the flag with most values first: it is the one that goes "
               "across"};
}

//===----------------------------------------------------------------------===//
// Writing the script for gnuplot
//===----------------------------------------------------------------------===//

/// Returns a string for gnuplot in quotes and without special characters,
/// because names come from users.
static std::string quoted(const std::string &text) {
  bool isText = isUtf8(text);
  std::string result = "'";
  for (char c : visible(text)) {
    bool isForeign = !isText && (c & 0x80) != 0;
    result +=
        c == '\'' ? std::string("''") : std::string(1, isForeign ? '?' : c);
  }
  return result + "'";
}

/// Writes lines of text as an expression of gnuplot.
static std::string quotedLines(const std::string &text) {
  constexpr size_t width = 90;
  std::string lines = wrap("", visible(text), width), result;
  for (size_t begin = 0; begin < lines.size();) {
    size_t end = lines.find('\n', begin);
    result += (begin == 0 ? "" : ".\"\\n\".") +
              quoted(lines.substr(begin, end - begin));
    begin = end + 1;
  }
  return result;
}

namespace {

class PlotWriter {
public:
  PlotWriter(const SweepReport &report, size_t column)
      : report(report), column(column), across(acrossAxis(report.axes)),
        axis(report.axes[across]) {
    addPoints();
  }

  bool isEmpty() const { return lines.empty(); }
  std::string write() const;

private:
  void addPoints();
  bool doubles() const;
  std::string ticks() const;
  std::string frame() const;

  const SweepReport &report;
  size_t column, across;
  const SweepAxis &axis;
  /// The points that fit, as lines "x y", for each combination of values of the
  /// other axes (`lines`); and those of points that do not fit (`unfit`).
  std::map<SweepPoint, std::string> lines;
  std::map<SweepPoint, std::string> titles;
  std::string unfit;
};

} // namespace

void PlotWriter::addPoints() {
  for (const SweepRow &row : report.rows) {
    if (row.isRefused() || row.cells[column].is_null())
      continue;
    double y = row.cells[column].get<double>() / reportColumns()[column].unit;
    std::string point = axis.values[row.point[across]].dump() + " " +
                        nlohmann::json(y).dump() + "\n";
    SweepPoint others = row.point;
    others[across] = 0;
    lines[others] += point;
    std::string title = nameOf(report, row, &axis);
    titles[others] = title.empty() ? report.model : title;
    if (!row.fits())
      unfit += point;
  }
}

/// Returns whether each value is at least twice the one before.
bool PlotWriter::doubles() const {
  for (size_t i = 0; i < axis.values.size(); ++i) {
    double value = axis.values[i];
    if (value <= 0 || (i > 0 && value < 2 * axis.values[i - 1].get<double>()))
      return false;
  }
  return true;
}

/// Returns marks at the values of the axis, as many as there is room for.
std::string PlotWriter::ticks() const {
  constexpr size_t most = 12;
  size_t stride = (axis.values.size() + most - 1) / most;
  std::vector<std::string> marks;
  for (size_t i = 0; i < axis.values.size(); i += stride)
    marks.push_back(quoted(axis.text(i)) + " " + axis.values[i].dump());
  return "set xtics (" + join(marks, ", ") + ")\n";
}

std::string PlotWriter::frame() const {
  return "set encoding utf8\n"
         "set terminal svg size 960,600 noenhanced font 'sans,14' "
         "background 'white'\n"
         "set title " +
         quotedLines(headText(report)) + "\nset xlabel " + quoted(axis.name) +
         "\nset ylabel " + quoted(reportColumns()[column].axis) +
         "\nset key below\nset grid\nset offsets graph 0.02, graph 0.02\n"
         "set yrange [0:*]\n" +
         (doubles() ? "set logscale x 2\n" : "") + ticks();
}

std::string PlotWriter::write() const {
  std::string data, plots;
  size_t number = 0;
  for (const auto &[others, points] : lines) {
    std::string block = "$line" + std::to_string(number++);
    data += block + " << end\n" + points + "end\n";
    plots += (plots.empty() ? "plot " : ", ") + block +
             " using 1:2 with linespoints linewidth 2 pointtype 7 "
             "pointsize 0.6 title " +
             quoted(titles.at(others));
  }
  if (!unfit.empty()) {
    data += "$unfit << end\n" + unfit + "end\n";
    plots += ", $unfit using 1:2 with points pointtype 2 pointsize 1.4 "
             "linewidth 2 linecolor 'black' title 'does not fit'";
  }
  return frame() + data + plots + "\n";
}

Result<std::string> autopar::sweep::plotScript(const SweepReport &report,
                                               std::string_view key) {
  PlotWriter writer(report, reportColumn(key));
  if (writer.isEmpty())
    return Error{"", "no row has " + std::string(key) + " to draw",
                 "where the machine has no price, --price=2.5 gives one"};
  return writer.write();
}
