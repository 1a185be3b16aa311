//===- Latents.h - Operands of attention to latents -------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_DIALECT_TRANSFORMER_LATENTS_H
#define AUTOPAR_DIALECT_TRANSFORMER_LATENTS_H

#include "autopar/Dialect/Transformer/Transformer.h"

namespace autopar::transformer {

/// The operands of latent attention, or of its backward. `valueWeight` is null
/// for ops that compute scores only.
struct LatentOperands {
  mlir::Value query, latent, keyRope, keyWeight, valueWeight, selected;
  std::optional<uint64_t> atMost;

  /// Returns the number of tokens that each query attends to at most; 0: all.
  int64_t numSeen() const;
};

mlir::LogicalResult verifyLatents(mlir::Operation *op,
                                  const LatentOperands &parts);

} // namespace autopar::transformer

#endif // AUTOPAR_DIALECT_TRANSFORMER_LATENTS_H
