//===- ProductFormat.h - Formats of matmuls in training ---------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_ANALYSIS_PRODUCTFORMAT_H
#define AUTOPAR_LIB_ANALYSIS_PRODUCTFORMAT_H

#include "autopar/Interfaces/WorkloadBuilder.h"

namespace autopar::analysis {

/// The number format in which matmuls with weights multiply in training, and
/// the casts to it. Routers and scores keep their own formats.
class ProductFormat {
public:
  ProductFormat(WorkloadBuilder &builder, ElementType format)
      : builder(builder), format(format) {}

  /// Adds casts of the operands of `op`, a matmul or a gather for matmuls, that
  /// other ops have computed.
  void quantizeOperands(mlir::Operation *op);
  /// Sets the number format in which a kernel of the matmul `op` multiplies;
  /// changes nothing for other ops.
  void quantizeResults(mlir::Operation *op);
  /// Sets the number format of a kernel of `op`, if it is such a matmul.
  void multiply(mlir::Operation *op, program::Kernel &kernel) const;
  /// Sets the number format in which a collective of `op` sends, if only
  /// matmuls read its result.
  void send(mlir::Operation *op, program::Collective &collective) const;

private:
  void quantize(mlir::Operation *op, mlir::Value value);

  WorkloadBuilder &builder;
  ElementType format;
  /// The values that were already cast to a narrower format.
  llvm::DenseSet<mlir::Value> quantized;
};

} // namespace autopar::analysis

#endif // AUTOPAR_LIB_ANALYSIS_PRODUCTFORMAT_H
