//===- Layouts.cpp --------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Transforms/Split/Layouts.h"

#include "autopar/Dialect/Transformer/Transformer.h"

using namespace autopar;
using namespace autopar::program;
using namespace autopar::transforms;
using namespace autopar::parallel;
using namespace mlir;

Type autopar::transforms::withLayout(Type type, const Layout &layout) {
  RankedTensorType tensor = tensorOf(type);
  if (layout.isWhole()) {
    SmallVector<NamedExtent> names;
    for (DimAttr dim : layout.dims)
      names.push_back(dim.getExtent());
    return withTensor(type,
                      transformer::getTensorType(tensor.getShape(), names,
                                                 tensor.getElementType()));
  }
  auto encoding =
      ShardingAttr::get(type.getContext(), layout.dims, layout.partial);
  return withTensor(type,
                    RankedTensorType::get(tensor.getShape(),
                                          tensor.getElementType(), encoding));
}

bool autopar::transforms::isLayoutOp(Operation *op) {
  return isa<ParallelDialect>(op->getDialect()) && op->getNumOperands() == 1 &&
         op->getNumResults() == 1;
}

/// Splits `dim` over further axes. The parts of weights that replicas update
/// may be uneven.
static void splitMore(DimAttr &dim, ArrayAttr axes) {
  SmallVector<StringAttr> all(dim.getAxes());
  llvm::append_range(all, axes.getAsRange<StringAttr>());
  dim = dim.withAxes(all).withRule(SplitRule::any);
}

Layout autopar::transforms::layoutAfter(Operation *op) {
  Layout layout = Layout::of(TensorView(op->getOperand(0)).getType());
  if (auto ring = dyn_cast<RingOp>(op)) {
    DimAttr &dim = layout.dims[ring.getDim()];
    dim = dim.withRule(SplitRule::ring);
  } else if (auto gather = dyn_cast<AllGatherOp>(op)) {
    DimAttr &dim = layout.dims[gather.getDim()];
    dim = dim.withAxes(dim.getAxes().drop_back(gather.getAxes().size()));
  } else if (auto slice = dyn_cast<AllSliceOp>(op)) {
    splitMore(layout.dims[slice.getDim()], slice.getAxes());
  } else if (auto scatter = dyn_cast<ReduceScatterOp>(op)) {
    splitMore(layout.dims[scatter.getDim()], scatter.getAxes());
    for (Attribute axis : scatter.getAxes())
      llvm::erase(layout.partial, cast<StringAttr>(axis));
  }
  return layout;
}
