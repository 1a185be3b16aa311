//===- Propagation.cpp ----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Propagation.h"

#include "FactorSplits.h"
#include "TrainingLayouts.h"

#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace autopar;
using namespace autopar::program;
using namespace autopar::schedule;
using namespace autopar::transforms;
using namespace autopar::parallel;
using namespace mlir;

namespace {

class Propagation {
public:
  explicit Propagation(ModuleOp module)
      : module(module), builder(module.getContext()) {}

  void run() {
    rememberOthers();
    dropLayoutOps(module);
    layOutParts(module);
    tokenAxes = findTokenAxes(module);
    exchange = ContextExchange::of(module);
    for (auto function : module.getOps<FunctionOpInterface>())
      if (!function.isDeclaration())
        run(function.getFunctionBody().front());
  }

private:
  /// Remembers the operand types of ops without factors, which must not change.
  void rememberOthers() {
    module.walk([&](Operation *op) {
      if (isa<ShardingOpInterface, CallOpInterface, LoopLikeOpInterface>(op) ||
          isLayoutOp(op) || op->hasTrait<OpTrait::IsTerminator>())
        return;
      for (OpOperand &operand : op->getOpOperands())
        taken[&operand] = operand.get().getType();
    });
  }

  void run(Block &block) {
    for (Operation &op : llvm::make_early_inc_range(block)) {
      // The op may be replaced, unless it has regions.
      bool hasRegions = op.getNumRegions() != 0;
      visit(&op);
      if (!hasRegions)
        continue;
      for (Region &region : op.getRegions())
        for (Block &nested : region) {
          // A reshard inside a region does not dominate the ops after the
          // region.
          auto outside = reshards;
          run(nested);
          reshards = std::move(outside);
        }
    }
  }

  void visit(Operation *op) {
    if (std::optional<TrainingLayout> layout = findTrainingLayout(op))
      return update(op, *layout);
    if (auto sharded = dyn_cast<ShardingOpInterface>(op))
      return update(sharded);
    if (auto call = dyn_cast<CallOpInterface>(op))
      return updateCall(call);
    if (auto loop = dyn_cast<LoopLikeOpInterface>(op))
      return updateLoop(loop);
    if (isLayoutOp(op))
      return updateOnSource(op);
    if (op->hasTrait<OpTrait::IsTerminator>())
      return updateTerminator(op);
    for (OpOperand &operand : op->getOpOperands())
      reshard(operand, taken.lookup(&operand));
  }

  //===--------------------------------------------------------------------===//
  // Ops that state their factors
  //===--------------------------------------------------------------------===//

  void update(ShardingOpInterface op) {
    FactorSplits splits(op, exchange);
    if (splits.getFactors().linear.empty() &&
        (splits.reduces() || !splits.partialOperands().empty())) {
      if (Operation *product = op.detachBias(builder)) {
        // The addition of the bias follows in the block and is updated on its
        // own.
        update(cast<ShardingOpInterface>(product));
        return update(cast<ShardingOpInterface>(*product->user_begin()));
      }
      // A bias that cannot be detached would be added to every partial sum.
      splits.gatherReductions();
    }
    GatheredDims gathered = findGathered(op, splits.getFactors());
    if (Operation *sums =
            canSumParts(gathered) ? op.detachSums(builder) : nullptr) {
      update(cast<ShardingOpInterface>(sums));
      return update(op);
    }
    bool keepPartial = canStayPartial(op, splits) &&
                       !splits.multipliesLessScattered(tokenAxes);
    if (!keepPartial)
      splits.splitTokens(tokenAxes);
    splits.sliceTokens(tokenAxes);
    bool addsToRing = llvm::any_of(op->getResults(), [&](OpResult result) {
      return goesRound(splits.resultLayout(result.getResultNumber()));
    });
    for (OpOperand &operand : op->getOpOperands()) {
      Layout layout = splits.operandLayout(operand.getOperandNumber());
      if (!keepPartial)
        layout.partial.clear();
      Type wanted = withLayout(operand.get().getType(), layout);
      // The value that a forward received around a ring is not saved: in the
      // backward it goes around again.
      if (addsToRing && goesRound(layout))
        reshards.erase({operand.get(), wanted});
      reshard(operand, wanted);
    }
    for (OpResult result : op->getResults()) {
      result.setType(splits.resultType(result.getResultNumber()));
      splitAgain(result, splits.getFactors(), gathered);
      bringHome(result);
    }
  }

  using GatheredDims = DenseMap<int32_t, DimAttr>;

  /// Returns the dimensions of operands that are split but that the op needs
  /// whole (`FactorKind::gathered`), with their splits.
  static GatheredDims findGathered(Operation *op,
                                   const ShardingFactors &factors) {
    GatheredDims gathered;
    if (!llvm::is_contained(factors.kinds, FactorKind::gathered))
      return gathered;
    for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
      Layout layout = Layout::of(TensorView(operand).getType());
      for (auto [dim, factor] :
           llvm::zip_equal(layout.dims, factors.operands[i]))
        if (factors.kinds[factor] == FactorKind::gathered && !dim.isWhole() &&
            !isSource(operand))
          gathered.try_emplace(factor, dim);
    }
    return gathered;
  }

  /// Whether each device can compute a sum over its part, which padding would
  /// falsify.
  static bool canSumParts(const GatheredDims &gathered) {
    return !gathered.empty() && llvm::none_of(gathered, [](const auto &entry) {
      return entry.second.getRule() == SplitRule::pad;
    });
  }

  /// Splits a result that was computed from gathered dimensions as the operand
  /// was.
  void splitAgain(OpResult result, const ShardingFactors &factors,
                  const GatheredDims &gathered) {
    if (gathered.empty())
      return;
    Layout layout = Layout::of(TensorView(result).getType());
    for (auto [dim, factor] : llvm::zip_equal(
             layout.dims, factors.results[result.getResultNumber()]))
      if (DimAttr split = gathered.lookup(factor))
        dim = split;
    builder.setInsertionPointAfter(result.getOwner());
    auto reshard = ReshardOp::create(
        builder, result.getLoc(), withLayout(result.getType(), layout), result);
    result.replaceAllUsesExcept(reshard.getResult(), reshard);
  }

  static bool goesRound(const Layout &layout) {
    return llvm::any_of(layout.dims, [](DimAttr dim) {
      return dim.getRule() == SplitRule::ring;
    });
  }

  /// Reduces values that were added to parts while these went around a ring, on
  /// the devices that own the parts.
  void bringHome(OpResult result) {
    Layout layout = Layout::of(TensorView(result).getType());
    if (!goesRound(layout))
      return;
    for (DimAttr &dim : layout.dims)
      if (dim.getRule() == SplitRule::ring)
        dim = dim.withRule(defaultRule(dim.getExtent()));
    builder.setInsertionPointAfter(result.getOwner());
    auto home = ReshardOp::create(builder, result.getLoc(),
                                  withLayout(result.getType(), layout), result);
    result.replaceAllUsesExcept(home.getResult(), home);
  }

  /// Whether the op is linear in its partial operands, and splits nothing over
  /// the axes of their sums.
  static bool canStayPartial(Operation *op, const FactorSplits &splits) {
    SmallVector<unsigned> partial = splits.partialOperands();
    if (partial.empty())
      return true;
    ArrayRef<StringAttr> axes =
        TensorView(op->getOperand(partial.front())).partialAxes();
    return llvm::is_contained(splits.getFactors().linear, partial) &&
           !splits.uses(axes) && !grows(op, partial) &&
           llvm::all_of(partial, [&](unsigned i) {
             return haveSameAxes(TensorView(op->getOperand(i)).partialAxes(),
                                 axes);
           });
  }

  /// Returns the number of elements of a tensor, without the dimensions that
  /// symbols count.
  static int64_t numbersOf(Value tensor) {
    int64_t product = 1;
    for (int64_t size : TensorView(tensor).getType().getShape())
      if (!ShapedType::isDynamic(size) &&
          llvm::MulOverflow(product, size, product))
        return INT64_MAX;
    return product;
  }

  /// Whether the results have more elements than the partial operands, so that
  /// it is better to reduce the operands.
  static bool grows(Operation *op, ArrayRef<unsigned> partial) {
    int64_t before = 0, after = 0;
    for (unsigned i : partial)
      before = std::max(before, numbersOf(op->getOperand(i)));
    for (Value result : op->getResults())
      after = std::max(after, numbersOf(result));
    return after > before;
  }

  /// Sets the layouts of a training op, which follow from a saved value, a
  /// gradient or a weight.
  void update(Operation *op, const TrainingLayout &layout) {
    if (layout.operand)
      reshard(op->getOpOperand(0), layout.operand);
    if (layout.result)
      op->getResult(0).setType(layout.result);
  }

  //===--------------------------------------------------------------------===//
  // Functions and loops of the module
  //===--------------------------------------------------------------------===//

  void updateCall(CallOpInterface call) {
    auto callee = dyn_cast_or_null<FunctionOpInterface>(call.resolveCallable());
    if (!callee)
      return;
    for (auto [operand, type] :
         llvm::zip_equal(call->getOpOperands(), callee.getArgumentTypes()))
      reshard(operand, type);
    for (auto [result, type] :
         llvm::zip_equal(call->getResults(), callee.getResultTypes()))
      result.setType(type);
  }

  void updateLoop(LoopLikeOpInterface loop) {
    Block::BlockArgListType carried = loop.getRegionIterArgs();
    for (auto [init, argument] :
         llvm::zip_equal(loop.getInitsMutable(), carried))
      reshard(init, argument.getType());
    for (auto [result, argument] : llvm::zip_equal(loop->getResults(), carried))
      result.setType(argument.getType());
  }

  void updateTerminator(Operation *op) {
    Operation *parent = op->getParentOp();
    if (auto function = dyn_cast<FunctionOpInterface>(parent)) {
      for (auto [operand, type] :
           llvm::zip_equal(op->getOpOperands(), function.getResultTypes()))
        reshard(operand, type);
      return;
    }
    for (auto [operand, result] :
         llvm::zip_equal(op->getOpOperands(), parent->getResults()))
      reshard(operand, result.getType());
  }

  /// Gives the result of a layout op (the gather of a weight, the ring of a
  /// cache) the type that follows from the layout of its operand.
  static void updateOnSource(Operation *op) {
    Type type = op->getOperand(0).getType();
    op->getResult(0).setType(withLayout(type, layoutAfter(op)));
  }

  //===--------------------------------------------------------------------===//
  // Adding reshards, and removing layout ops
  //===--------------------------------------------------------------------===//

  void reshard(OpOperand &operand, Type wanted) {
    Value value = operand.get();
    if (value.getType() == wanted)
      return;
    Value &resharded = reshards[{value, wanted}];
    if (!resharded) {
      builder.setInsertionPoint(operand.getOwner());
      resharded = ReshardOp::create(builder, value.getLoc(), wanted, value);
    }
    operand.set(resharded);
  }

  ModuleOp module;
  OpBuilder builder;
  DenseMap<OpOperand *, Type> taken;
  /// The axes whose sums become scatters over tokens.
  TokenAxes tokenAxes;
  ContextExchange exchange;
  DenseMap<std::pair<Value, Type>, Value> reshards;
};

} // namespace

void autopar::transforms::dropLayoutOps(ModuleOp module) {
  SmallVector<Operation *> derived;
  module.walk([&](Operation *op) {
    if (isLayoutOp(op) && (isa<ReshardOp>(op) || !isSource(op->getOperand(0))))
      derived.push_back(op);
  });
  for (Operation *op : derived) {
    op->getResult(0).replaceAllUsesWith(op->getOperand(0));
    op->erase();
  }
}

void autopar::transforms::propagateSplits(ModuleOp module) {
  Propagation(module).run();
}
