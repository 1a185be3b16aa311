//===- ProductFormat.h - What products of training multiply in --*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_ANALYSIS_PRODUCTFORMAT_H
#define AUTOPAR_LIB_ANALYSIS_PRODUCTFORMAT_H

#include "autopar/Interfaces/WorkloadBuilder.h"

namespace autopar::analysis {

/// The format in which products with weights multiply, and the casts to it.
/// Routers and scores multiply in their own.
class ProductFormat {
public:
  ProductFormat(WorkloadBuilder &builder, ElementType format)
      : builder(builder), format(format) {}

  /// Casts what `op`, a product or a gather for products, is about to read:
  /// what was made elsewhere.
  void quantizeOperands(mlir::Operation *op);
  /// Casts what `op` has made for products, with which kernels may be launched
  /// as one.
  void quantizeResults(mlir::Operation *op);
  /// Lets a kernel of `op` multiply in this format.
  void multiply(mlir::Operation *op, program::Kernel &kernel) const;
  /// Lets a collective of `op` send in this format, where products alone read
  /// what it brings.
  void send(mlir::Operation *op, program::Collective &collective) const;

private:
  void quantize(mlir::Operation *op, mlir::Value value);

  WorkloadBuilder &builder;
  ElementType format;
  /// What was cast.
  llvm::DenseSet<mlir::Value> quantized;
};

} // namespace autopar::analysis

#endif // AUTOPAR_LIB_ANALYSIS_PRODUCTFORMAT_H
