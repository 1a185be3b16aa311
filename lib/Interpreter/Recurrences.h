//===- Recurrences.h - Shared parts of recurrences --------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_INTERPRETER_RECURRENCES_H
#define AUTOPAR_LIB_INTERPRETER_RECURRENCES_H

#include "Kernels.h"

namespace autopar::interpreter {

/// Emits an error unless all tokens of a sequence are on one device, since each
/// depends on the ones before it.
mlir::LogicalResult hasAllTokens(mlir::Operation *op, Device &device,
                                 mlir::Value x);

/// Returns the Euclidean length of `row`, plus a small constant.
double lengthOf(const double *row, int64_t n);
/// Returns `row` scaled to unit length.
std::vector<double> unit(const double *row, int64_t n);

/// The decay of the state in delta rules, per head or per channel of the key.
class DeltaDecay {
public:
  DeltaDecay(const LocalTensor &decay, const LocalTensor &rate,
             const LocalTensor &bias, int64_t channels)
      : decay(decay), rate(rate), bias(bias), channels(channels),
        perHead(rate.size() ? bias.size() / rate.size() : 1) {}

  /// Returns the index of the decay of channel `i` for a token's head; if
  /// decays are per head, all channels have one index.
  int64_t at(int64_t head, int64_t i) const {
    return head * perHead + (perHead == 1 ? 0 : i);
  }
  /// Returns the argument of the softplus that yields the decay.
  double inputAt(int64_t head, int64_t h, int64_t i) const {
    return decay.data[at(head, i)] + bias.data[at(h, i)];
  }
  /// Returns the share of the state that each channel keeps from one token to
  /// the next.
  std::vector<double> keptOf(int64_t head, int64_t h) const;

  const LocalTensor &decay, &rate, &bias;
  int64_t channels, perHead;
};

/// Returns the decay of a head (lightning attention, arXiv:2401.04658), which
/// is smaller in later layers.
double decayOf(int64_t head, int64_t heads, double share);
/// Returns the layer's factor of the decay, for `op` in one of `layers` layers.
mlir::FailureOr<double> shareOfDecay(mlir::Operation *op,
                                     std::optional<int64_t> layers,
                                     Device &device);

} // namespace autopar::interpreter

#endif // AUTOPAR_LIB_INTERPRETER_RECURRENCES_H
