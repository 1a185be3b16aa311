//===- Transformer.h - The transformer dialect ------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_DIALECT_TRANSFORMER_TRANSFORMER_H
#define AUTOPAR_DIALECT_TRANSFORMER_TRANSFORMER_H

#include "autopar/Interfaces/Interfaces.h"
#include "autopar/Program/Requests.h"
#include "autopar/Program/StoredDim.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/TensorEncoding.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace autopar::program {
inline llvm::hash_code hash_value(const StoredDim &dim) {
  return llvm::hash_combine(dim.base, dim.num, dim.den);
}
} // namespace autopar::program

namespace autopar::transformer {

/// Of a module: tokens of the longest context that the model was made for.
inline constexpr llvm::StringLiteral longestContextAttribute =
    "transformer.longest_context";
/// Of a module: the `model_type` of its config, by which engines tell models
/// apart.
inline constexpr llvm::StringLiteral modelTypeAttribute =
    "transformer.model_type";
/// Of a module: the element type that the checkpoint has where weights of the
/// module's are not quantised, and engines cast them.
inline constexpr llvm::StringLiteral castFromAttribute =
    "transformer.cast_from";

/// What stays on a device from step to step, as resources of effects.
struct WeightMemory : mlir::SideEffects::Resource::Base<WeightMemory> {
  llvm::StringRef getName() override { return "weights"; }
};
struct KVCacheMemory : mlir::SideEffects::Resource::Base<KVCacheMemory> {
  llvm::StringRef getName() override { return "KV cache"; }
};
struct StateMemory : mlir::SideEffects::Resource::Base<StateMemory> {
  llvm::StringRef getName() override { return "states"; }
};

/// `[last dimension of x]`, the type of a norm's weight; null where `x` has no
/// such dimension.
mlir::Type getNormWeightType(mlir::Type x);

/// A factor of a checkpoint dimension.
struct StorageFactor {
  static constexpr int64_t noDim = INT64_MIN;
  /// A dimension of the value, or `noDim`: a fixed index.
  int64_t dim = noDim;
  /// `total` not 0: the dimension is in `outer` parts, and each part lies at
  /// `offset` and following of `total`. A fixed index is one part.
  int64_t outer = 1, offset = 0, total = 0;

  friend bool operator==(const StorageFactor &a, const StorageFactor &b) {
    return a.dim == b.dim && a.outer == b.outer && a.offset == b.offset &&
           a.total == b.total;
  }
  friend llvm::hash_code hash_value(const StorageFactor &factor) {
    return llvm::hash_combine(factor.dim, factor.outer, factor.offset,
                              factor.total);
  }
};

} // namespace autopar::transformer

#include "autopar/Dialect/Transformer/TransformerDialect.h.inc"
#include "autopar/Dialect/Transformer/TransformerEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "autopar/Dialect/Transformer/TransformerAttrs.h.inc"
#define GET_TYPEDEF_CLASSES
#include "autopar/Dialect/Transformer/TransformerTypes.h.inc"
#define GET_OP_CLASSES
#include "autopar/Dialect/Transformer/TransformerOps.h.inc"

namespace autopar::transformer {

/// A tensor type whose dimension `i` is named `names[i]`, or is the number
/// `shape[i]` where that names nothing. No encoding where none is named.
mlir::RankedTensorType getTensorType(llvm::ArrayRef<int64_t> shape,
                                     llvm::ArrayRef<NamedExtent> names,
                                     mlir::Type elementType);

/// A tensor of the checkpoint.
struct StoredTensor {
  /// Below the layer, with the `*` of the weight's name.
  std::string name;
  /// Outermost first; of one tensor where the name has a `*`.
  llvm::SmallVector<int64_t> shape;
  /// How many tensors the `*` of the name stands for, else 1.
  int64_t copies = 1;
  ElementType type = ElementType::bf16;
};
/// The plain tensor of a weight: that of its name, as if it had no format.
StoredTensor getStoredTensor(WeightOp weight);
/// The tensors that its format puts in place of the plain one.
llvm::SmallVector<StoredTensor> getStoredTensors(WeightOp weight);

/// Which elements of a checkpoint dimension a value is: a range, where those of
/// each part of the dimension count as adjacent.
struct StoredPart {
  Checked start = 0, length = 1, total = 1;
  /// The part that `inner` is of this one.
  StoredPart nest(const StoredPart &inner) const;
};
StoredPart getStoredPart(StorageGroupAttr group,
                         llvm::ArrayRef<int64_t> valueShape);
/// The groups of a weight's storage: without one, its dimensions.
llvm::SmallVector<StorageGroupAttr> getStorageGroups(WeightOp weight);
/// The dimension of the value that the `*` of the name counts.
std::optional<int64_t> getSpreadDim(WeightOp weight);
/// The weight's format; null where it is none or a type.
FormatAttr getFormat(WeightOp weight);
/// The shape of a tensor of a format, where the plain one is `plain`, of rank 2
/// at least.
llvm::SmallVector<Checked> getFormatShape(FormatTensorAttr tensor,
                                          llvm::ArrayRef<int64_t> plain);
/// Whether its shape is in terms of the product of all dimensions.
bool usesAll(FormatTensorAttr tensor);

/// Whether `value` is the gradient of what products with weights have had as
/// their input: what the backward of one makes, or a sum of such that nothing
/// else uses.
bool isInputGradient(mlir::Value value);

/// Verifies what only `weight` itself knows, then, at the last weight of a
/// block, that those of one name are of one tensor.
mlir::LogicalResult verifyStorage(WeightOp weight);
mlir::LogicalResult verifyParts(WeightOp weight);
/// Verifies that two weights of one name are equal, or parts of one tensor.
mlir::LogicalResult verifySameTensor(WeightOp weight, WeightOp first);

} // namespace autopar::transformer

#endif // AUTOPAR_DIALECT_TRANSFORMER_TRANSFORMER_H
