//===- bounds.cpp - Intervals and slopes of one strategy, checked ---------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// MODEL.mlir is a module that has been split. Counts the plans of random boxes
// over symbols and figures whose step, bytes or capacity lie outside of the
// bounds of their box, and slopes that differ from central differences by more
// than a millionth, of all figures of chip, runtime and links. Kinks, where the
// slope above is another one than below, are counted apart.
//
// Built on demand: ninja bounds-bench && bin/bounds-bench model.mlir
//
//===----------------------------------------------------------------------===//

#include "Subject.h"

#include "autopar/Cost/Interval.h"
#include "autopar/Cost/Sensitivity.h"

#include "llvm/Support/CommandLine.h"

#include <cmath>
#include <random>

using namespace autopar;
using namespace autopar::cost;
using namespace autopar::program;
using namespace mlir;

namespace cl = llvm::cl;

static cl::opt<std::string> file(cl::Positional, cl::Required,
                                 cl::desc("MODEL.mlir"));
static cl::opt<int64_t> boxCount("boxes", cl::init(10000));
static cl::opt<int64_t> planCount("plans", cl::init(20));

namespace {

class Bounds {
public:
  explicit Bounds(const Subject &subject)
      : subject(subject), strategy(subject.compile(Counting::whole)),
        outputs{strategy.total.stepPs, strategy.total.totalBytes,
                strategy.total.kvCapacityTokens},
        tape(collect(strategy, outputs)),
        pricer(tape, subject.machine(), subject.runtime()),
        enclosure(tape, subject.machine(), subject.runtime()),
        layout(subject.layout()) {}

  bool checkBoxes();
  bool checkSlopes();

private:
  double real(double low, double high) {
    return low < high
               ? std::uniform_real_distribution<double>(low, high)(random)
               : low;
  }
  Box drawBox();
  bool price(const Box &box, double *values);
  size_t countWrong(Sensitivity &sensitivity, size_t output);

  const Subject &subject;
  Strategy strategy;
  std::vector<NodeId> outputs;
  Tape tape;
  Pricer pricer;
  Enclosure enclosure;
  Layout layout;
  std::mt19937_64 random{11};
  size_t checked = 0, kinks = 0;
};

} // namespace

/// Around the figures of the machine, and any workload of the phase.
Box Bounds::drawBox() {
  Box box;
  bool decodes = subject.workload().phase == Phase::decode;
  auto range = [&](double most, double width) {
    double low = std::floor(real(1, most));
    return Interval{low, low + std::floor(real(0, width))};
  };
  Interval query = decodes ? Interval{1, 1} : range(4000, 500);
  Interval cached = range(20000, 5000);
  box.symbols = {range(300, 50), query,
                 Interval{query.high + cached.low, query.high + cached.high},
                 Interval{0, 0}, Interval{0, 0}};
  for (size_t i = 0; i < strategy.figures.size(); ++i) {
    FigureUse::Kind kind = strategy.figures[i].kind;
    bool isFixed = kind == FigureUse::Kind::exponent ||
                   kind == FigureUse::Kind::kv_block_tokens;
    double value = pricer.figures()[i].value;
    double wide = isFixed || !std::isfinite(value) ? 0 : real(0, 0.05);
    box.figures.push_back({value * (1 - wide), value * (1 + wide)});
  }
  return box;
}

/// One plan of a box.
bool Bounds::price(const Box &box, double *values) {
  GroupValues point{};
  for (size_t i = 0; i < symbolCount; ++i)
    point[i] =
        std::min(box.symbols[i].high,
                 std::floor(real(box.symbols[i].low, box.symbols[i].high + 1)));
  for (size_t i = 0; i < box.figures.size(); ++i)
    pricer.setFigure(static_cast<uint32_t>(i),
                     real(box.figures[i].low, box.figures[i].high));
  return !pricer.lay(layout) && !pricer.price(point, values);
}

bool Bounds::checkBoxes() {
  std::vector<double> figures;
  for (const BoundFigure &figure : pricer.figures())
    figures.push_back(figure.value);
  int64_t outside = 0, refused = 0, priced = 0;
  for (int64_t i = 0; i < boxCount; ++i) {
    for (uint32_t f = 0; f < figures.size(); ++f)
      pricer.setFigure(f, figures[f]);
    Box box = drawBox();
    std::vector<Interval> bounds = enclosure.enclose(layout, box);
    for (int64_t j = 0; j < planCount; ++j) {
      double values[3];
      if (!price(box, values)) {
        ++refused;
        continue;
      }
      ++priced;
      for (size_t k = 0; k < outputs.size(); ++k)
        outside += !bounds[k].contains(values[k]);
    }
  }
  for (uint32_t f = 0; f < figures.size(); ++f)
    pricer.setFigure(f, figures[f]);
  llvm::outs() << priced << " plans of " << boxCount << " boxes priced, "
               << refused << " refused, " << outside << " values outside; ";
  return outside == 0 && priced > 0;
}

/// Slopes of an output that central differences do not confirm.
size_t Bounds::countWrong(Sensitivity &sensitivity, size_t output) {
  constexpr double step = 1e-4, close = 1e-6;
  std::vector<double> values;
  for (const BoundFigure &figure : sensitivity.figures())
    values.push_back(figure.value);
  std::vector<Slope> slopes = sensitivity.slopes(outputs[output]);
  auto at = [&](size_t i, double factor) {
    if (i < values.size()) {
      std::vector<double> moved = values;
      moved[i] *= factor;
      return sensitivity.evaluate(moved, subject.machine())[outputs[output]];
    }
    LinkFigure link = sensitivity.linkFigures()[i - values.size()];
    double value =
        (subject.machine().pools.front().tiers[link.tier].*link.figure).value;
    return sensitivity.evaluate(
        values, withLinkFigure(subject.machine(), link,
                               value * factor))[outputs[output]];
  };
  double scale = std::fabs(at(0, 1));
  size_t wrong = 0;
  for (size_t i = 0; i < slopes.size(); ++i) {
    bool isOfChoice = i < values.size() &&
                      (strategy.figures[i].kind == FigureUse::Kind::exponent ||
                       !std::isfinite(values[i]));
    if (isOfChoice)
      continue;
    if (slopes[i].above != slopes[i].below) {
      ++kinks;
      continue;
    }
    double high = at(i, 1 + step), low = at(i, 1 - step), middle = at(i, 1);
    double expected = (high - low) / (2 * step);
    // A choice that switches within the step bends the line.
    bool isBent = std::fabs(high - 2 * middle + low) > close * step * scale;
    ++checked;
    bool isWrong = std::fabs(slopes[i].above - expected) > close * scale;
    if (isWrong && !isBent)
      ++wrong;
    kinks += isWrong && isBent;
  }
  return wrong;
}

bool Bounds::checkSlopes() {
  Sensitivity sensitivity(strategy, subject.machine(), subject.runtime(),
                          std::nullopt);
  sensitivity.lay(layout, pointOf(subject.workload()));
  size_t wrong = 0;
  for (size_t output = 0; output < outputs.size(); ++output)
    wrong += countWrong(sensitivity, output);
  llvm::outs() << checked << " slopes checked, " << wrong << " wrong, " << kinks
               << " kinks\n";
  return wrong == 0;
}

int main(int argc, char **argv) {
  cl::ParseCommandLineOptions(argc, argv, "bounds and slopes of a strategy\n");
  std::unique_ptr<Subject> subject = Subject::load(file);
  if (!subject)
    return 1;
  Bounds bounds(*subject);
  bool good = bounds.checkBoxes();
  return bounds.checkSlopes() && good ? 0 : 1;
}
