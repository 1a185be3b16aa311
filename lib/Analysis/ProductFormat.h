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

/// The format in which matmuls with weights multiply, and the casts to it.
/// Routers and scores use their own formats.
class ProductFormat {
public:
  ProductFormat(WorkloadBuilder &builder, ElementType format)
      : builder(builder), format(format) {}

  /// Casts the operands of `op`, a matmul or a gather for matmuls, that other
  /// ops made.
  void quantizeOperands(mlir::Operation *op);
  /// Casts the results of `op` for matmuls; kernels may be launched as one with
  /// that.
  void quantizeResults(mlir::Operation *op);
  /// Makes a kernel of `op` multiply in this format.
  void multiply(mlir::Operation *op, program::Kernel &kernel) const;
  /// Makes a collective of `op` send in this format if only matmuls read its
  /// result.
  void send(mlir::Operation *op, program::Collective &collective) const;

private:
  void quantize(mlir::Operation *op, mlir::Value value);

  WorkloadBuilder &builder;
  ElementType format;
  /// Values that were cast.
  llvm::DenseSet<mlir::Value> quantized;
};

} // namespace autopar::analysis

#endif // AUTOPAR_LIB_ANALYSIS_PRODUCTFORMAT_H
