//===- TransformerDialect.cpp ---------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Dialect/Transformer/Transformer.h"
#include "autopar/Interfaces/BlockType.h"
#include "autopar/Interfaces/BytecodeVersion.h"

#include "mlir/Transforms/InliningUtils.h"
#include "llvm/ADT/StringExtras.h"

using namespace autopar;
using namespace autopar::transformer;
using namespace mlir;

#include "autopar/Dialect/Transformer/TransformerDialect.cpp.inc"

namespace {

/// Gives formats, and tensor types with symbols, short names (aliases) in
/// printed IR. A type that is only a shape has no alias.
struct TransformerAsmInterface : OpAsmDialectInterface {
  using OpAsmDialectInterface::OpAsmDialectInterface;

  AliasResult getAlias(Attribute attr, raw_ostream &os) const override {
    auto format = dyn_cast<FormatAttr>(attr);
    if (!format)
      return AliasResult::NoAlias;
    for (char c : format.getName().getValue())
      os << (llvm::isAlnum(c) ? c : '_');
    return AliasResult::OverridableAlias;
  }

  AliasResult getAlias(Type type, raw_ostream &os) const override {
    RankedTensorType tensor = tensorOf(type);
    if (!tensor || !isa_and_nonnull<DimsAttr>(tensor.getEncoding()))
      return AliasResult::NoAlias;
    os << aliasOf(tensor);
    return AliasResult::OverridableAlias;
  }
};

/// Forbids inlining of weights, KV caches and states: their names and numbers
/// depend on the function that contains them, and on the calls of it.
struct TransformerInlinerInterface : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;

  bool isLegalToInline(Operation *op, Region *, bool,
                       IRMapping &) const override {
    return !isa<WeightOp, KVCacheOp, StateOp>(op);
  }
  /// Forbids inlining into a repeat, in which each call counts as a layer.
  bool isLegalToInline(Region *into, Region *, bool,
                       IRMapping &) const override {
    return !isa<RepeatOp>(into->getParentOp());
  }
};

struct TransformerBytecode : VersionedBytecode {
  using VersionedBytecode::VersionedBytecode;

  LogicalResult
  upgradeFromVersion(Operation *top,
                     const DialectVersion &version) const override {
    auto number = static_cast<const BytecodeVersion &>(version).number;
    if (number < LatentAttentionOp::firstWithoutCache)
      top->walk([](LatentAttentionOp op) { op.setEarlierOperands(); });
    if (number < RequestsOp::firstWithoutTexts)
      top->walk([](RequestsOp op) { op.readTexts(); });
    return VersionedBytecode::upgradeFromVersion(top, version);
  }
};

} // namespace

void TransformerDialect::initialize() {
  // Element types of KV caches may be block types of this dialect.
  getContext()->getOrLoadDialect<BlocksDialect>();
  registerAttributes();
  registerTypes();
  addOperations<
#define GET_OP_LIST
#include "autopar/Dialect/Transformer/TransformerOps.cpp.inc"
      >();
  addInterfaces<TransformerAsmInterface, TransformerInlinerInterface,
                TransformerBytecode>();
}

RankedTensorType transformer::getTensorType(ArrayRef<int64_t> shape,
                                            ArrayRef<NamedExtent> names,
                                            Type elementType) {
  MLIRContext *context = elementType.getContext();
  SmallVector<int64_t> sizes(shape);
  bool named = false;
  for (auto [size, name] : llvm::zip_equal(sizes, names))
    if (name.isNamed()) {
      size = ShapedType::kDynamic;
      named = true;
    }
  Attribute encoding = named ? DimsAttr::get(context, names) : Attribute();
  return RankedTensorType::get(sizes, elementType, encoding);
}

Type transformer::getNormWeightType(Type x) {
  auto type = dyn_cast<RankedTensorType>(x);
  if (!type || type.getRank() == 0 || type.isDynamicDim(type.getRank() - 1))
    return {};
  return RankedTensorType::get(type.getShape().take_back(),
                               type.getElementType());
}
