//===- RecomputedLayers.cpp -----------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RecomputedLayers.h"

#include "autopar/Analysis/StageBorders.h"
#include "autopar/Dialect/Transformer/Transformer.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"

using namespace autopar;
using namespace autopar::analysis;
using namespace autopar::program;
using namespace autopar::schedule;
using namespace autopar::transforms;
using namespace autopar::transformer;
using namespace mlir;

namespace {

/// A number of consecutive calls of one layer, all of which are recomputed, or
/// none.
struct LayerRun {
  func::CallOp call;
  bool isMadeAgain = false;
  int64_t times = 1;

  bool isLike(const LayerRun &other) const {
    return call == other.call && isMadeAgain == other.isMadeAgain;
  }
  friend bool operator==(const LayerRun &a, const LayerRun &b) {
    return a.isLike(b) && a.times == b.times;
  }
};

/// A sequence of runs that is repeated `times` times.
struct LayerPattern {
  ArrayRef<LayerRun> runs;
  int64_t times = 1;
};

class LayerSplitter {
public:
  LayerSplitter(func::FuncOp entry, const Recomputation &what)
      : symbols(entry->getParentOp()), entry(entry), what(what) {}

  FailureOr<FunctionSet> run(const StagesOfLayers &stages);

private:
  LogicalResult addLayers(RepeatOp repeat,
                          SmallVectorImpl<func::CallOp> &calls);
  FailureOr<std::vector<LayerRange>> rangesOf(const StagesOfLayers &stages,
                                              int64_t layers);
  func::FuncOp madeAgain(func::FuncOp function);
  void replace(RepeatOp repeat, ArrayRef<LayerRun> runs);
  SmallVector<Value> repeatRuns(OpBuilder &builder, const LayerPattern &pattern,
                                RepeatOp like, ValueRange carried,
                                std::optional<int64_t> first);
  SmallVector<Value> callLayer(OpBuilder &builder, const LayerRun &run,
                               ValueRange carried);

  SymbolTable symbols;
  func::FuncOp entry;
  Recomputation what;
  /// Clones of functions, by the function from which they were cloned.
  llvm::DenseMap<Operation *, func::FuncOp> clones;
};

} // namespace

/// Whether `op` takes only values that the iteration carries, or that come from
/// outside of `repeat`, and yields as many.
static bool handsOn(Operation *op, ValueRange carried, RepeatOp repeat) {
  return op->getNumResults() == carried.size() &&
         llvm::all_of(op->getOperands(), [&](Value value) {
           return llvm::is_contained(carried, value) ||
                  !repeat.getBody().isAncestor(value.getParentRegion());
         });
}

/// Adds the calls of all iterations of a loop, in order.
LogicalResult LayerSplitter::addLayers(RepeatOp repeat,
                                       SmallVectorImpl<func::CallOp> &calls) {
  SmallVector<func::CallOp> own;
  mlir::Block &body = repeat.getBody().front();
  ValueRange carried = body.getArguments();
  for (Operation &op : body.without_terminator()) {
    auto inner = dyn_cast<RepeatOp>(op);
    auto call = dyn_cast<func::CallOp>(op);
    if ((!inner && !call) || !handsOn(&op, carried, repeat))
      return op.emitOpError("hands on other values than the layers beside it: "
                            "recomputation cannot differ between them");
    if (call)
      own.push_back(call);
    else if (failed(addLayers(inner, own)))
      return failure();
    carried = op.getResults();
  }
  if (!llvm::equal(body.getTerminator()->getOperands(), carried))
    return repeat.emitOpError("hands on other values than its layers: "
                              "recomputation cannot differ between them");
  for (uint64_t i = 0; i < repeat.getCount(); ++i)
    llvm::append_range(calls, own);
  return success();
}

FailureOr<std::vector<LayerRange>>
LayerSplitter::rangesOf(const StagesOfLayers &stages, int64_t layers) {
  if (stages.ranges.empty() && stages.count <= layers)
    return equalRanges(layers, stages.count);
  if (!stages.ranges.empty() && stages.ranges.back().end == layers)
    return stages.ranges;
  InFlightDiagnostic diag = entry.emitError()
                            << "has " << layers << " layers, ";
  if (stages.ranges.empty())
    return diag << "fewer than " << stages.count << " stages";
  return diag << "not the " << stages.ranges.back().end << " of the stages";
}

/// Returns a clone of `function` whose layers are recomputed, and which calls
/// clones.
func::FuncOp LayerSplitter::madeAgain(func::FuncOp function) {
  func::FuncOp &known = clones[function];
  if (known)
    return known;
  auto clone = cast<func::FuncOp>(function->clone());
  clone.setName((function.getName() + "_recomputed").str());
  symbols.insert(clone, std::next(Block::iterator(function)));
  known = clone;
  clone.walk([&](func::CallOp call) {
    auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
    call.setCallee(madeAgain(callee).getName());
  });
  return clone;
}

SmallVector<Value> LayerSplitter::callLayer(OpBuilder &builder,
                                            const LayerRun &run,
                                            ValueRange carried) {
  func::CallOp call = run.call;
  auto repeat = call->getParentOfType<RepeatOp>();
  while (auto outer = repeat->getParentOfType<RepeatOp>())
    repeat = outer;
  auto made = cast<func::CallOp>(builder.clone(*call));
  for (OpOperand &operand : made->getOpOperands()) {
    Value value = operand.get();
    if (!repeat.getBody().isAncestor(value.getParentRegion()))
      continue;
    auto argument = dyn_cast<BlockArgument>(value);
    operand.set(carried[argument ? argument.getArgNumber()
                                 : cast<OpResult>(value).getResultNumber()]);
  }
  if (run.isMadeAgain)
    made.setCallee(
        madeAgain(symbols.lookup<func::FuncOp>(call.getCallee())).getName());
  return made.getResults();
}

/// Builds a loop over `runs`, which replaces a part of the loop `like`; `first`
/// is the number of its first layer, if the layers have numbers.
SmallVector<Value> LayerSplitter::repeatRuns(OpBuilder &builder,
                                             const LayerPattern &pattern,
                                             RepeatOp like, ValueRange carried,
                                             std::optional<int64_t> first) {
  ArrayRef<LayerRun> runs = pattern.runs;
  bool isOne = runs.size() == 1;
  int64_t times = pattern.times * (isOne ? runs.front().times : 1);
  auto made = RepeatOp::create(
      builder, like.getLoc(), carried.getTypes(),
      builder.getI64IntegerAttr(times), first ? like.getPrefixAttr() : nullptr,
      builder.getI64IntegerAttr(first.value_or(0)), UnitAttr(), carried);
  mlir::Block &body = made.getBody().emplaceBlock();
  for (Value value : carried)
    body.addArgument(value.getType(), like.getLoc());
  OpBuilder inside = OpBuilder::atBlockEnd(&body);
  SmallVector<Value> values(body.getArguments());
  for (const LayerRun &run : runs)
    values = isOne || run.times == 1
                 ? callLayer(inside, run, values)
                 : repeatRuns(inside, {run, 1}, like, values, std::nullopt);
  YieldOp::create(inside, like.getLoc(), values);
  return made.getResults();
}

/// Returns the pattern that covers the most runs at the beginning of `runs`.
static LayerPattern findPattern(ArrayRef<LayerRun> runs) {
  constexpr size_t longest = 8;
  LayerPattern best{runs.take_front(), 1};
  for (size_t length = 2; length <= std::min(longest, runs.size() / 2);
       ++length) {
    ArrayRef<LayerRun> pattern = runs.take_front(length), rest = runs;
    int64_t times = 0;
    for (; rest.take_front(length) == pattern; ++times)
      rest = rest.drop_front(length);
    if (times > 1 && times * length > best.times * best.runs.size())
      best = {pattern, times};
  }
  return best;
}

void LayerSplitter::replace(RepeatOp repeat, ArrayRef<LayerRun> runs) {
  OpBuilder builder(repeat);
  SmallVector<Value> values(repeat.getInitArgs());
  auto first = static_cast<int64_t>(repeat.getFirst());
  while (!runs.empty()) {
    LayerPattern pattern = findPattern(runs);
    values = repeatRuns(builder, pattern, repeat, values, first);
    for (const LayerRun &run : pattern.runs)
      first += pattern.times * run.times;
    runs = runs.drop_front(pattern.runs.size() * pattern.times);
  }
  repeat.replaceAllUsesWith(values);
  repeat.erase();
}

FailureOr<FunctionSet> LayerSplitter::run(const StagesOfLayers &stages) {
  SmallVector<std::pair<RepeatOp, SmallVector<func::CallOp>>> loops;
  int64_t layers = 0, index = 0, stage = 0;
  for (LoopLikeOpInterface loop : findStack(entry)) {
    auto &[repeat, calls] = loops.emplace_back(cast<RepeatOp>(loop), 0);
    if (failed(addLayers(repeat, calls)))
      return failure();
    layers += calls.size();
  }
  FailureOr<std::vector<LayerRange>> ranges = rangesOf(stages, layers);
  if (failed(ranges))
    return failure();
  for (auto &[repeat, calls] : loops) {
    SmallVector<LayerRun> runs;
    for (func::CallOp call : calls) {
      stage += index == (*ranges)[stage].end;
      LayerRun own{call,
                   what.takesLayer(index, index - (*ranges)[stage].begin)};
      ++index;
      if (!runs.empty() && runs.back().isLike(own))
        ++runs.back().times;
      else
        runs.push_back(own);
    }
    replace(repeat, runs);
  }
  FunctionSet again;
  for (auto [function, clone] : clones) {
    again.insert(clone);
    if (symbols.symbolKnownUseEmpty(function, entry->getParentOp()))
      symbols.erase(function);
  }
  return again;
}

FailureOr<FunctionSet>
autopar::transforms::splitRecomputedLayers(func::FuncOp entry,
                                           const Recomputation &what,
                                           const StagesOfLayers &stages) {
  return LayerSplitter(entry, what).run(stages);
}
