//===- Layouts.cpp --------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Transforms/Layouts.h"

#include "autopar/Dialect/Transformer/Transformer.h"

using namespace autopar;
using namespace autopar::parallel;
using namespace mlir;

RankedTensorType autopar::withLayout(RankedTensorType type,
                                     const Layout &layout) {
  Attribute encoding;
  if (layout.isWhole()) {
    SmallVector<StringRef> names;
    for (DimAttr dim : layout.dims)
      names.push_back(dim.getExtent());
    return transformer::getTensorType(type.getShape(), names,
                                      type.getElementType());
  }
  encoding = ShardingAttr::get(type.getContext(), layout.dims, layout.partial);
  return RankedTensorType::get(type.getShape(), type.getElementType(),
                               encoding);
}

namespace {

/// What the operands of an op say of its factors.
class FactorLayouts {
public:
  explicit FactorLayouts(ShardingOpInterface op)
      : factors(op.getShardingFactors()), dims(factors.kinds.size()) {
    for (auto [i, operand] : llvm::enumerate(op->getOperands()))
      read(Layout::of(TensorView(operand).getType()), factors.operands[i]);
    for (auto [factor, kind] : llvm::enumerate(factors.kinds))
      if (kind == FactorKind::reduction && dims[factor])
        addPartial(dims[factor].getAxes());
  }

  RankedTensorType resultType(RankedTensorType old, unsigned index) const {
    Layout layout = Layout::of(old);
    for (auto [dim, factor] :
         llvm::zip_equal(layout.dims, factors.results[index]))
      if (DimAttr split = dims[factor])
        dim = DimAttr::get(dim.getContext(), dim.getExtent(), split.getAxes(),
                           split.getAxes().empty() ? dim.withAxes({}).getRule()
                                                   : split.getRule(),
                           split.getMultiple());
    layout.partial = partial;
    return withLayout(old, layout);
  }

private:
  void read(const Layout &layout, ArrayRef<int32_t> operandFactors) {
    for (auto [dim, factor] : llvm::zip_equal(layout.dims, operandFactors))
      if (!dims[factor] || isCapped(factor))
        dims[factor] = dim;
    addPartial(layout.partial);
  }

  /// Heads follow those operands that have all of them.
  bool isCapped(int32_t factor) const {
    return factors.kinds[factor] == FactorKind::grouped &&
           dims[factor].getRule() == SplitRule::cap;
  }

  void addPartial(ArrayRef<StringAttr> axes) {
    for (StringAttr axis : axes)
      if (!llvm::is_contained(partial, axis))
        partial.push_back(axis);
  }

  ShardingFactors factors;
  /// By factor; null where no operand has it.
  SmallVector<DimAttr> dims;
  SmallVector<StringAttr, 2> partial;
};

} // namespace

SmallVector<RankedTensorType>
autopar::inferResultTypes(ShardingOpInterface op) {
  FactorLayouts layouts(op);
  SmallVector<RankedTensorType> types;
  for (auto [i, result] : llvm::enumerate(op->getResults()))
    types.push_back(layouts.resultType(TensorView(result).getType(), i));
  return types;
}
