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

/// Module attribute: number of tokens of the longest context that the model was
/// made for.
inline constexpr llvm::StringLiteral longestContextAttribute =
    "transformer.longest_context";
/// Module attribute: the `model_type` of the model's config, by which runtimes
/// distinguish models.
inline constexpr llvm::StringLiteral modelTypeAttribute =
    "transformer.model_type";
/// Module attribute: the element type of the checkpoint's weights that are not
/// quantised, if runtimes convert them to the module's type.
inline constexpr llvm::StringLiteral castFromAttribute =
    "transformer.cast_from";

/// Memory effects: tensors that stay on a device from step to step.
struct WeightMemory : mlir::SideEffects::Resource::Base<WeightMemory> {
  llvm::StringRef getName() override { return "weights"; }
};
struct KVCacheMemory : mlir::SideEffects::Resource::Base<KVCacheMemory> {
  llvm::StringRef getName() override { return "KV cache"; }
};
struct StateMemory : mlir::SideEffects::Resource::Base<StateMemory> {
  llvm::StringRef getName() override { return "states"; }
};

/// Returns the type of a norm's weight, `[last dimension of x]`; null if `x`
/// has no such dimension.
mlir::Type getNormWeightType(mlir::Type x);

/// A factor of a dimension of a checkpoint tensor: such a dimension is a
/// product of factors.
struct StorageFactor {
  static constexpr int64_t noDim = INT64_MIN;
  /// The dimension of the value that this factor is; `noDim` for a fixed index.
  int64_t dim = noDim;
  /// If `total` is not 0, the checkpoint dimension consists of `outer` equal
  /// parts of `total` elements, and the value has the elements of each part
  /// from `offset` on. A fixed index has one part.
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

/// Returns a tensor type whose dimension `i` is named `names[i]` or, if that is
/// not a name, is the number `shape[i]`. The type has no encoding if no
/// dimension has a name.
mlir::RankedTensorType getTensorType(llvm::ArrayRef<int64_t> shape,
                                     llvm::ArrayRef<NamedExtent> names,
                                     mlir::Type elementType);

/// A tensor of the checkpoint, or several that differ only in an index.
struct StoredTensor {
  /// Name of the tensor below its layer; a `*` stands for an index, as in the
  /// name of the weight op.
  std::string name;
  /// Dimensions, outermost first; of one tensor if the name has a `*`.
  llvm::SmallVector<int64_t> shape;
  /// Number of tensors for which the `*` of the name stands; 1 if there is
  /// none.
  int64_t copies = 1;
  ElementType type = ElementType::bf16;
};
/// Returns the checkpoint tensor that a weight has if it is not quantised.
StoredTensor getStoredTensor(WeightOp weight);
/// Returns the checkpoint tensors of a weight; a quantisation format has
/// several in place of the plain one.
llvm::SmallVector<StoredTensor> getStoredTensors(WeightOp weight);

/// The range of elements of a checkpoint dimension that a value has: `length`
/// elements from `start` on, of `total`. If the dimension has several equal
/// parts, the elements of all parts count as adjacent.
struct StoredPart {
  Checked start = 0, length = 1, total = 1;
  /// Returns the range in the whole dimension of `inner`, a range within this
  /// one.
  StoredPart nest(const StoredPart &inner) const;
};
StoredPart getStoredPart(StorageGroupAttr group,
                         llvm::ArrayRef<int64_t> valueShape);
/// Returns the storage groups of a weight; for a weight that states none, one
/// group per dimension.
llvm::SmallVector<StorageGroupAttr> getStorageGroups(WeightOp weight);
/// Returns the dimension of the value that the `*` in the weight's name counts.
std::optional<int64_t> getSpreadDim(WeightOp weight);
/// Returns the quantisation format of a weight; null if it has none, or only an
/// element type.
FormatAttr getFormat(WeightOp weight);
/// Returns the shape of a tensor of a quantisation format, for a plain weight
/// of shape `plain`, which has at least two dimensions.
llvm::SmallVector<Checked> getFormatShape(FormatTensorAttr tensor,
                                          llvm::ArrayRef<int64_t> plain);
/// Whether the shape of the tensor is stated in terms of the product of all
/// dimensions.
bool usesAll(FormatTensorAttr tensor);

/// Whether `value` is the gradient of an input of matmuls with weights: the
/// result of one input-gradient op, or a sum of such results that nothing else
/// uses.
bool isInputGradient(mlir::Value value);

/// Verifies the storage of `weight` by itself, and, at the last weight of a
/// block, that weights of one name belong to one tensor.
mlir::LogicalResult verifyStorage(WeightOp weight);
mlir::LogicalResult verifyParts(WeightOp weight);
/// Verifies that two weights of one name are equal, or parts of one tensor.
mlir::LogicalResult verifySameTensor(WeightOp weight, WeightOp first);

} // namespace autopar::transformer

#endif // AUTOPAR_DIALECT_TRANSFORMER_TRANSFORMER_H
