//===- Sweep.cpp - Points of a sweep --------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SweepParts.h"

#include "autopar/Support/Limits.h"
#include "autopar/Support/Text.h"
#include "autopar/Write/Phrases.h"
#include "autopar/Write/ReportColumns.h"

#include <algorithm>

using namespace autopar;
using namespace autopar::report;
using namespace autopar::sweep;
using namespace autopar::writing;

std::string SweepAxis::text(size_t i) const {
  const nlohmann::ordered_json &value = values[i];
  return value.is_string()           ? value.get<std::string>()
         : value.is_number_integer() ? formatInteger(value.get<int64_t>())
                                     : formatNumber(value);
}

Result<size_t> autopar::sweep::countPoints(const std::vector<SweepAxis> &axes) {
  Checked count = 1;
  std::vector<std::string> sizes;
  for (const SweepAxis &axis : axes) {
    auto size = static_cast<int64_t>(axis.values.size());
    count *= size;
    if (size > 1)
      sizes.push_back(formatInteger(size) + " of " + axis.name);
  }
  std::optional<int64_t> points = count.int64();
  if (points && *points <= limits::maxSweepRows)
    return static_cast<size_t>(*points);
  return Error{"",
               "the sweep has " +
                   (count.valid() ? formatInteger(count) : "too many") +
                   " rows, the product of " + join(sizes, ", ") + "; at most " +
                   formatInteger(limits::maxSweepRows) + " are computed",
               "give fewer values, as in 8|64|512 for 1..1024, or sweep one "
               "after the other"};
}

SweepPoint autopar::sweep::pointAt(const std::vector<SweepAxis> &axes,
                                   size_t index) {
  SweepPoint point(axes.size());
  for (size_t i = axes.size(); i-- > 0;) {
    point[i] = index % axes[i].values.size();
    index /= axes[i].values.size();
  }
  return point;
}

bool SweepRow::fits() const {
  static const size_t column = reportColumn("fits");
  return !isRefused() && cells[column].get<bool>();
}

SweepRow SweepRow::of(SweepPoint point, const Report &report,
                      const std::string &plan) {
  SweepRow row{std::move(point), plan.empty() ? meshLine(report) : plan};
  for (const ReportColumn &column : reportColumns())
    row.cells.push_back(column.value(report));
  return row;
}

bool autopar::sweep::hasRequests(const SweepReport &report) {
  static const size_t column = reportColumn("ttft_us");
  return std::any_of(report.rows.begin(), report.rows.end(),
                     [](const SweepRow &row) {
                       return !row.isRefused() && !row.cells[column].is_null();
                     });
}

//===----------------------------------------------------------------------===//
// Names of axes and rows
//===----------------------------------------------------------------------===//

const SweepAxis *autopar::sweep::varyingAxis(const SweepReport &report,
                                             std::string_view name) {
  for (const SweepAxis &axis : report.axes)
    if (axis.name == name && axis.varies())
      return &axis;
  return nullptr;
}

static std::string lastPart(const SweepAxis &axis) {
  return axis.name.substr(axis.name.rfind('.') + 1);
}

std::string autopar::sweep::shortName(const SweepReport &report,
                                      const SweepAxis &axis) {
  auto endsSo = [&](const SweepAxis &one) {
    return lastPart(one) == lastPart(axis);
  };
  bool isOnly =
      std::count_if(report.axes.begin(), report.axes.end(), endsSo) < 2;
  return isOnly ? lastPart(axis) : axis.name;
}

std::string autopar::sweep::nameOf(const SweepReport &report,
                                   const SweepRow &row, const SweepAxis *left) {
  std::vector<std::string> parts;
  for (size_t i = 0; i < report.axes.size(); ++i) {
    const SweepAxis &axis = report.axes[i];
    if (!axis.varies() || &axis == left)
      continue;
    std::string text = axis.text(row.point[i]);
    parts.push_back(axis.isNumber() ? shortName(report, axis) + " " + text
                                    : text);
  }
  return join(parts, ", ");
}
