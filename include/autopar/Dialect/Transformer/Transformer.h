//===- Transformer.h - The transformer dialect ------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_DIALECT_TRANSFORMER_TRANSFORMER_H
#define AUTOPAR_DIALECT_TRANSFORMER_TRANSFORMER_H

#include "autopar/Interfaces/Interfaces.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/TensorEncoding.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace autopar::transformer {

/// `[last dimension of x]`, the type of a norm's weight; null where `x` has no
/// such dimension.
mlir::Type getNormWeightType(mlir::Type x);

} // namespace autopar::transformer

#include "autopar/Dialect/Transformer/TransformerDialect.h.inc"
#include "autopar/Dialect/Transformer/TransformerEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "autopar/Dialect/Transformer/TransformerAttrs.h.inc"
#define GET_OP_CLASSES
#include "autopar/Dialect/Transformer/TransformerOps.h.inc"

namespace autopar::transformer {

/// A tensor type whose dimension `i` is named `names[i]`, or is the number
/// `shape[i]` where that is empty. No encoding where none is named.
mlir::RankedTensorType getTensorType(llvm::ArrayRef<int64_t> shape,
                                     llvm::ArrayRef<llvm::StringRef> names,
                                     mlir::Type elementType);

/// The checkpoint tensor behind a weight.
struct StoredTensor {
  /// Outermost first; of one tensor where the name has a `*`.
  llvm::SmallVector<int64_t> shape;
  /// How many tensors the `*` of the name stands for, else 1.
  int64_t copies = 1;
  ElementType type = ElementType::bf16;
};
StoredTensor getStoredTensor(WeightOp weight);

} // namespace autopar::transformer

#endif // AUTOPAR_DIALECT_TRANSFORMER_TRANSFORMER_H
