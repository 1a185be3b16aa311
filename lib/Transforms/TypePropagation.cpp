//===- TypePropagation.cpp ------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TypePropagation.h"

#include "autopar/Transforms/Layouts.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace autopar;
using namespace autopar::parallel;
using namespace mlir;

namespace {

class TypePropagation {
public:
  TypePropagation(MLIRContext *context, DenseMap<Value, Type> original,
                  const DenseMap<Value, Type> &resplit)
      : builder(context), original(std::move(original)), resplit(resplit) {}

  void run(Block &block) {
    for (Operation &op : llvm::make_early_inc_range(block)) {
      if (auto sharded = dyn_cast<ShardingOpInterface>(op))
        update(sharded);
      else
        restoreOperands(&op);
      for (Region &region : op.getRegions())
        for (Block &nested : region) {
          // What is resharded inside does not dominate what follows.
          auto outside = reshards;
          run(nested);
          reshards = std::move(outside);
        }
    }
  }

private:
  //===--------------------------------------------------------------------===//
  // Ops that know their factors
  //===--------------------------------------------------------------------===//

  void update(ShardingOpInterface op) {
    alignOperands(op);
    if (needsReduction(op))
      if (Operation *product = op.detachBias(builder)) {
        // The addition follows in the block and is updated by itself.
        auto sharded = cast<ShardingOpInterface>(product);
        reduceOperands(sharded);
        setResultTypes(sharded);
        update(cast<ShardingOpInterface>(*product->user_begin()));
        return;
      }
    reduceOperands(op);
    setResultTypes(op);
    for (OpResult result : op->getResults())
      if (auto it = resplit.find(result); it != resplit.end())
        splitAgain(result, it->second);
  }

  /// Puts a reshard behind a result that was computed whole and that its users
  /// want split.
  void splitAgain(OpResult result, Type wanted) {
    RankedTensorType type = TensorView(result).getType();
    Layout layout = Layout::of(type);
    Layout split = Layout::of(cast<RankedTensorType>(wanted));
    for (auto [dim, other] : llvm::zip_equal(layout.dims, split.dims))
      if (!other.getAxes().empty())
        dim = other;
    builder.setInsertionPointAfter(result.getOwner());
    auto reshard = ReshardOp::create(builder, result.getLoc(),
                                     withLayout(type, layout), result);
    original.try_emplace(reshard.getResult(), type);
    result.replaceAllUsesExcept(reshard.getResult(), reshard);
  }

  void setResultTypes(ShardingOpInterface op) {
    for (auto [result, type] :
         llvm::zip_equal(op->getResults(), inferResultTypes(op))) {
      if (result.getType() != type)
        original.try_emplace(result, result.getType());
      result.setType(type);
    }
  }

  /// Gives operands that share a factor one split: the first that there is; and
  /// none where the factor must be whole.
  void alignOperands(ShardingOpInterface op) {
    ShardingFactors factors = op.getShardingFactors();
    SmallVector<DimAttr> splits(factors.kinds.size());
    for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
      Layout layout = Layout::of(TensorView(operand).getType());
      for (auto [dim, factor] :
           llvm::zip_equal(layout.dims, factors.operands[i]))
        if (!dim.getAxes().empty() && !splits[factor] &&
            !mustBeWhole(factors.kinds[factor]))
          splits[factor] = dim;
    }
    for (OpOperand &operand : op->getOpOperands()) {
      Layout layout = Layout::of(TensorView(operand.get()).getType());
      ArrayRef<int32_t> dims = factors.operands[operand.getOperandNumber()];
      for (auto [dim, factor] : llvm::zip_equal(layout.dims, dims)) {
        DimAttr split = splits[factor];
        ArrayRef<StringAttr> axes =
            split ? split.getAxes() : ArrayRef<StringAttr>();
        if (dim.getAxes() == axes)
          continue;
        // Heads and the heads they share have rules of their own.
        SplitRule rule = split ? split.getRule() : SplitRule::plain;
        if (split && factors.kinds[factor] == FactorKind::grouped)
          rule = op.getTensorParallelFactor()
                     ->operandRules[operand.getOperandNumber()];
        dim = split ? DimAttr::get(op.getContext(), dim.getExtent(), axes, rule,
                                   split.getMultiple())
                    : dim.withAxes({});
      }
      reshard(operand, layout);
    }
  }

  /// Whether the product of an affine op is a partial sum that its bias must
  /// wait for. Asks no result type: it could be split over the same axis.
  static bool needsReduction(ShardingOpInterface op) {
    ShardingFactors factors = op.getShardingFactors();
    if (!factors.linear.empty())
      return false;
    for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
      TensorView view(operand);
      if (!view.partialAxes().empty())
        return true;
      for (auto [dim, factor] : llvm::enumerate(factors.operands[i]))
        if (factors.kinds[factor] == FactorKind::reduction &&
            !view.dim(dim).axes.empty())
          return true;
    }
    return false;
  }

  /// Whether a result would be both split and partial over one axis.
  static bool splitsByPartialAxis(ShardingOpInterface op) {
    ShardingFactors factors = op.getShardingFactors();
    llvm::SmallPtrSet<StringAttr, 4> partial;
    for (Value operand : op->getOperands())
      partial.insert_range(TensorView(operand).partialAxes());
    for (auto [i, operand] : llvm::enumerate(op->getOperands()))
      for (auto [dim, factor] : llvm::enumerate(factors.operands[i]))
        for (StringAttr axis : TensorView(operand).dim(dim).axes)
          if (partial.contains(axis))
            return true;
    return false;
  }

  /// Reduces partial operands that the op is not linear in.
  void reduceOperands(ShardingOpInterface op) {
    SmallVector<unsigned> partial;
    for (auto [i, operand] : llvm::enumerate(op->getOperands()))
      if (!TensorView(operand).partialAxes().empty())
        partial.push_back(i);
    if (partial.empty() ||
        (llvm::is_contained(op.getShardingFactors().linear, partial) &&
         !splitsByPartialAxis(op)))
      return;
    for (unsigned i : partial) {
      OpOperand &operand = op->getOpOperand(i);
      Layout layout = Layout::of(TensorView(operand.get()).getType());
      layout.partial.clear();
      reshard(operand, layout);
    }
  }

  //===--------------------------------------------------------------------===//
  // Other ops
  //===--------------------------------------------------------------------===//

  void restoreOperands(Operation *op) {
    for (OpOperand &operand : op->getOpOperands()) {
      auto it = original.find(operand.get());
      if (it != original.end())
        reshard(operand, Layout::of(cast<RankedTensorType>(it->second)));
    }
  }

  void reshard(OpOperand &operand, const Layout &layout) {
    Value value = operand.get();
    RankedTensorType type = TensorView(value).getType();
    RankedTensorType wanted = withLayout(type, layout);
    if (type == wanted)
      return;
    Value &resharded = reshards[{value, wanted}];
    if (!resharded) {
      builder.setInsertionPoint(operand.getOwner());
      resharded = ReshardOp::create(builder, value.getLoc(), wanted, value);
    }
    operand.set(resharded);
  }

  OpBuilder builder;
  /// Types before the change, of values that have another now.
  DenseMap<Value, Type> original;
  const DenseMap<Value, Type> &resplit;
  DenseMap<std::pair<Value, Type>, Value> reshards;
};

} // namespace

void autopar::propagateTypes(FunctionOpInterface function,
                             const DenseMap<Value, Type> &original,
                             const DenseMap<Value, Type> &resplit) {
  if (!function.isDeclaration())
    TypePropagation(function.getContext(), original, resplit)
        .run(function.getFunctionBody().front());
}
