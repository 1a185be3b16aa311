//===- SharedHeads.h - Heads that several devices have ---------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_INTERPRETER_SHAREDHEADS_H
#define AUTOPAR_LIB_INTERPRETER_SHAREDHEADS_H

#include "Kernels.h"

namespace autopar::interpreter {

/// Whether the heads of `result` are split over devices as those of `key` are.
bool hasHeadsLike(mlir::Value result, mlir::Value key);

/// Executes `compute` on a device and on the devices with the same heads, and
/// sums those results whose heads are split as those of `key`.
template <typename Op>
LocalResults addUpHeads(Op op, mlir::Value key, Device &device,
                        KernelOf<Op, LocalResults> compute) {
  LocalResults own = compute(op, device);
  TensorView type(key);
  if (failed(own) || copiesOf(type, 2, device.grid()) == 1)
    return own;
  for (int64_t member : device.grid().groupOf(device.id, type.dim(2).axes)) {
    Device peer(device.run, member);
    if (member == device.id || peer.indices(key, 2) != device.indices(key, 2))
      continue;
    LocalResults other = compute(op, peer);
    if (failed(other))
      return mlir::failure();
    for (auto [result, sum, addend] :
         llvm::zip_equal(op->getResults(), *own, *other))
      for (int64_t i = 0; hasHeadsLike(result, key) && i < sum.size(); ++i)
        sum.data[i] += addend.data[i];
  }
  return own;
}

} // namespace autopar::interpreter

#endif // AUTOPAR_LIB_INTERPRETER_SHAREDHEADS_H
