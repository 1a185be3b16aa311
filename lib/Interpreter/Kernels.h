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

namespace autopar::interpreter {

using LocalResult = mlir::FailureOr<LocalTensor>;
using LocalResults = mlir::FailureOr<LocalTensors>;

// Converts what functions that execute ops return (one result, several or none)
// to a list of results.
inline LocalResults asResults(LocalResult result) {
  if (mlir::failed(result))
    return mlir::failure();
  LocalTensors all;
  all.push_back(std::move(*result));
  return all;
}
inline LocalResults asResults(LocalResults results) { return results; }
inline LocalResults asResults(mlir::LogicalResult done) {
  if (mlir::failed(done))
    return mlir::failure();
  return LocalTensors();
}

template <typename OpTy, typename Result = LocalResult>
using KernelOf = Result (*)(OpTy, Device &);

/// Makes ops `OpTy` executable by `function`, which takes the op and the
/// device.
template <typename OpTy, auto function>
struct ExecutedBy
    : ExecutableOpInterface::ExternalModel<ExecutedBy<OpTy, function>, OpTy> {
  LocalResults execute(mlir::Operation *op, Device &device) const {
    return asResults(function(mlir::cast<OpTy>(op), device));
  }
};

/// Makes ops `OpTy` executable by `function`, after `update` has changed what
/// the device keeps (KV cache or state).
template <typename OpTy, KernelOf<OpTy, mlir::LogicalResult> update,
          auto function>
struct UpdatedBy
    : ExecutableOpInterface::ExternalModel<UpdatedBy<OpTy, update, function>,
                                           OpTy> {
  mlir::LogicalResult prepare(mlir::Operation *op, Device &device) const {
    return update(mlir::cast<OpTy>(op), device);
  }
  LocalResults execute(mlir::Operation *op, Device &device) const {
    return asResults(function(mlir::cast<OpTy>(op), device));
  }
};

template <typename OpTy, KernelOf<OpTy> function>
void attach(mlir::MLIRContext *context) {
  OpTy::template attachInterface<ExecutedBy<OpTy, function>>(*context);
}
template <typename OpTy, KernelOf<OpTy, LocalResults> function>
void attach(mlir::MLIRContext *context) {
  OpTy::template attachInterface<ExecutedBy<OpTy, function>>(*context);
}
template <typename OpTy, KernelOf<OpTy, mlir::LogicalResult> function>
void attach(mlir::MLIRContext *context) {
  OpTy::template attachInterface<ExecutedBy<OpTy, function>>(*context);
}
template <typename OpTy, KernelOf<OpTy, mlir::LogicalResult> update,
          KernelOf<OpTy> function>
void attach(mlir::MLIRContext *context) {
  OpTy::template attachInterface<UpdatedBy<OpTy, update, function>>(*context);
}

// Each function makes the ops of one source file executable.
void attachElementwiseKernels(mlir::MLIRContext *context);
void attachElementwiseGradientKernels(mlir::MLIRContext *context);
void attachNormKernels(mlir::MLIRContext *context);
void attachNormGradientKernels(mlir::MLIRContext *context);
void attachTokenKernels(mlir::MLIRContext *context);
void attachGradientKernels(mlir::MLIRContext *context);
void attachAttentionGradientKernels(mlir::MLIRContext *context);
void attachExpertGradientKernels(mlir::MLIRContext *context);
void attachTokenGradientKernels(mlir::MLIRContext *context);
void attachLatentGradientKernels(mlir::MLIRContext *context);
void attachTrainingKernels(mlir::MLIRContext *context);
void attachOptimizerKernels(mlir::MLIRContext *context);
void attachConvolutionKernels(mlir::MLIRContext *context);
void attachAttentionKernels(mlir::MLIRContext *context);
void attachCompressedKernels(mlir::MLIRContext *context);
void attachRopeGradientKernels(mlir::MLIRContext *context);
void attachExpertKernels(mlir::MLIRContext *context);
void attachRouterGradientKernels(mlir::MLIRContext *context);
void attachHyperConnectionKernels(mlir::MLIRContext *context);
void attachRecurrentKernels(mlir::MLIRContext *context);
void attachRecurrentGradientKernels(mlir::MLIRContext *context);
void attachCollectives(mlir::MLIRContext *context);

double apply(transformer::FunctionKind function, double x);
double derivative(transformer::FunctionKind function, double x);
double sigmoid(double x);
double softplus(double x);

/// Returns the key of a weight in the layer that is executed.
LayerWeight keyOf(transformer::WeightOp weight, const std::string &layer);
/// Returns the key of the weight from which `weight` was computed.
LayerWeight keyOf(mlir::Value weight, Device &device);

/// Returns the position of `index` in `indices`; -1 if it is not there.
int64_t find(const std::vector<int64_t> &indices, int64_t index);

/// Returns the numbers of the tokens that a device has, in the order of the
/// leading `dims` dimensions of `x`.
std::vector<int64_t> tokensOf(Device &device, mlir::Value x, size_t dims);

/// Returns the number of devices that have the same elements of a dimension.
int64_t copiesOf(const TensorView &view, unsigned dim, const DeviceGrid &grid);

/// Finds the row of a table of positions that belongs to each token.
class PositionRows {
public:
  /// `op` has the rules of the table, and `tokens` are `[batch, tokens,
  /// width]`. A table of another shape holds its rows one after the other.
  template <typename Op>
  PositionRows(Op op, mlir::Value tokens, int64_t tableSize, Device &device)
      : positions(device.positions(tokens, 1)),
        width(device(tokens).extentFrom(2)), isSame(op.getSame()),
        first(static_cast<int64_t>(op.getFirst().value_or(0))) {
    rows = width > 0 && tableSize % width == 0 ? tableSize / width : 0;
  }

  explicit operator bool() const { return rows > 0; }
  /// Returns the offset in the table for the element at offset `at` of the
  /// tokens.
  int64_t placeOf(int64_t at) const {
    int64_t position = positions[at / width % int64_t(positions.size())];
    int64_t row = isSame ? 0 : (position + first) % rows;
    return row * width + at % width;
  }

private:
  std::vector<int64_t> positions;
  int64_t width, rows = 0;
  bool isSame;
  int64_t first;
};

} // namespace autopar::interpreter

#endif // AUTOPAR_LIB_INTERPRETER_KERNELS_H
