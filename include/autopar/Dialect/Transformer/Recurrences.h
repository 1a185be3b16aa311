//===- Recurrences.h - What recurrences share -------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_DIALECT_TRANSFORMER_RECURRENCES_H
#define AUTOPAR_DIALECT_TRANSFORMER_RECURRENCES_H

#include "autopar/Dialect/Transformer/Verifiers.h"
#include "autopar/Interfaces/WorkloadBuilder.h"

namespace autopar::transformer {

/// A dimension of a tensor that counts heads, and the name of the heads in
/// errors.
struct HeadDim {
  llvm::StringRef name;
  mlir::Value tensor;
  unsigned dim;
};

/// Checks that the given dimensions have the same number of heads. The factor
/// of heads is a grouped one, whose extents may differ, so that factors alone
/// do not check it.
mlir::LogicalResult verifySameHeads(mlir::Operation *op,
                                    llvm::ArrayRef<HeadDim> heads);
mlir::LogicalResult verifyGroups(mlir::Operation *op, const HeadDim &heads,
                                 const HeadDim &groups);
mlir::LogicalResult verifyKernel(mlir::Operation *op, mlir::Value weight);

/// Verifies the operands of a state-space recurrence or of its backward, which
/// has no `state` (null).
template <typename Op>
mlir::LogicalResult verifyStateSpace(Op op, mlir::Value state) {
  for (mlir::Value tensor : {op.getX(), op.getInput()})
    if (mlir::failed(verifyNumbers(op, tensor, 2)))
      return mlir::failure();
  HeadDim same[] = {{"x", op.getX(), 2}, {"dt", op.getDt(), 2},
                    {"a", op.getA(), 0}, {"the state", state, 1},
                    {"d", op.getD(), 0}, {"dt_bias", op.getDtBias(), 0}};
  if (mlir::failed(verifySameHeads(op, same)))
    return mlir::failure();
  return verifyGroups(op, {"heads", op.getX(), 2},
                      {"groups", op.getInput(), 2});
}

template <typename Op>
mlir::LogicalResult verifyDeltaRule(Op op, mlir::Value state) {
  for (mlir::Value tensor : {op.getQuery(), op.getValue()})
    if (mlir::failed(verifyNumbers(op, tensor, 2)))
      return mlir::failure();
  HeadDim same[] = {
      {"the values", op.getValue(), 2}, {"beta", op.getBeta(), 2},
      {"decay", op.getDecay(), 2},      {"a_log", op.getALog(), 0},
      {"dt_bias", op.getDtBias(), 0},   {"the state", state, 1}};
  if (mlir::failed(verifySameHeads(op, same)))
    return mlir::failure();
  return verifyGroups(op, {"value heads", op.getValue(), 2},
                      {"key heads", op.getQuery(), 2});
}

/// Each function adds the kernel of a recurrent op, or of its backward: `share`
/// is its FLOPs over those of the forward. `state` is null for a backward.
void addConv(WorkloadBuilder &builder, mlir::Operation *op, int64_t share,
             mlir::Value x, mlir::Value weight, mlir::Value state = nullptr);
void addStateSpace(WorkloadBuilder &builder, mlir::Operation *op, int64_t share,
                   mlir::Value x, mlir::Value input,
                   mlir::Value state = nullptr);
void addDeltaRule(WorkloadBuilder &builder, mlir::Operation *op, int64_t share,
                  mlir::Value key, mlir::Value value, mlir::Value decay,
                  mlir::Value state = nullptr);
void addLinearAttention(WorkloadBuilder &builder, mlir::Operation *op,
                        int64_t share, mlir::Value query,
                        mlir::Value state = nullptr);

} // namespace autopar::transformer

#endif // AUTOPAR_DIALECT_TRANSFORMER_RECURRENCES_H
