//===- Kernels.h - What ops do on a device ----------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_INTERPRETER_KERNELS_H
#define AUTOPAR_LIB_INTERPRETER_KERNELS_H

#include "autopar/Dialect/Parallel/Parallel.h"
#include "autopar/Dialect/Transformer/Transformer.h"
#include "autopar/Interpreter/Execution.h"

namespace autopar {

using LocalResult = mlir::FailureOr<LocalTensor>;

/// Op `OpTy` executed by a function of the op and the device.
template <typename OpTy, LocalResult (*function)(OpTy, Device &)>
struct ExecutedBy
    : ExecutableOpInterface::ExternalModel<ExecutedBy<OpTy, function>, OpTy> {
  LocalResult execute(mlir::Operation *op, Device &device) const {
    return function(mlir::cast<OpTy>(op), device);
  }
};

/// The same, after another function has updated what the device keeps.
template <typename OpTy, mlir::LogicalResult (*update)(OpTy, Device &),
          LocalResult (*function)(OpTy, Device &)>
struct UpdatedBy
    : ExecutableOpInterface::ExternalModel<UpdatedBy<OpTy, update, function>,
                                           OpTy> {
  mlir::LogicalResult prepare(mlir::Operation *op, Device &device) const {
    return update(mlir::cast<OpTy>(op), device);
  }
  LocalResult execute(mlir::Operation *op, Device &device) const {
    return function(mlir::cast<OpTy>(op), device);
  }
};

template <typename OpTy, LocalResult (*function)(OpTy, Device &)>
void attach(mlir::MLIRContext *context) {
  OpTy::template attachInterface<ExecutedBy<OpTy, function>>(*context);
}
template <typename OpTy, mlir::LogicalResult (*update)(OpTy, Device &),
          LocalResult (*function)(OpTy, Device &)>
void attach(mlir::MLIRContext *context) {
  OpTy::template attachInterface<UpdatedBy<OpTy, update, function>>(*context);
}

// Each for the ops of one file.
void attachTokenKernels(mlir::MLIRContext *context);
void attachConvolutionKernels(mlir::MLIRContext *context);
void attachAttentionKernels(mlir::MLIRContext *context);
void attachExpertKernels(mlir::MLIRContext *context);
void attachRecurrentKernels(mlir::MLIRContext *context);
void attachCollectives(mlir::MLIRContext *context);

double apply(transformer::FunctionKind function, double x);
double sigmoid(double x);
double softplus(double x);

/// Where `index` is in `indices`, or -1.
int64_t find(const std::vector<int64_t> &indices, int64_t index);

} // namespace autopar

#endif // AUTOPAR_LIB_INTERPRETER_KERNELS_H
