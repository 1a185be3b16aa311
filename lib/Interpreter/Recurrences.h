//===- Recurrences.h - What recurrences share, both ways --------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_INTERPRETER_RECURRENCES_H
#define AUTOPAR_LIB_INTERPRETER_RECURRENCES_H

#include "Kernels.h"

namespace autopar::interpreter {

/// Tokens follow each other: all of a sequence are on one device.
mlir::LogicalResult hasAllTokens(mlir::Operation *op, Device &device,
                                 mlir::Value x);

/// The length of `row`, a little more than 0.
double lengthOf(const double *row, int64_t n);
/// `row` of unit length.
std::vector<double> unit(const double *row, int64_t n);

/// What delta rules keep of each channel of the key, by decays of heads or of
/// channels.
class DeltaDecay {
public:
  DeltaDecay(const LocalTensor &decay, const LocalTensor &rate,
             const LocalTensor &bias, int64_t channels)
      : decay(decay), rate(rate), bias(bias), channels(channels),
        perHead(rate.size() ? bias.size() / rate.size() : 1) {}

  /// Where the decay of channel `i` stands, of a token's head; that of head `h`
  /// where all have one.
  int64_t at(int64_t head, int64_t i) const {
    return head * perHead + (perHead == 1 ? 0 : i);
  }
  /// What goes into the softplus.
  double inputAt(int64_t head, int64_t h, int64_t i) const {
    return decay.data[at(head, i)] + bias.data[at(h, i)];
  }
  /// The share of the state that each channel keeps.
  std::vector<double> keptOf(int64_t head, int64_t h) const;

  const LocalTensor &decay, &rate, &bias;
  int64_t channels, perHead;
};

/// The decay of a head (lightning attention, arXiv:2401.04658), of which later
/// layers have less.
double decayOf(int64_t head, int64_t heads, double share);
/// How much of its decay the layer has that `op` is in, of `layers`.
mlir::FailureOr<double> shareOfDecay(mlir::Operation *op,
                                     std::optional<int64_t> layers,
                                     Device &device);

} // namespace autopar::interpreter

#endif // AUTOPAR_LIB_INTERPRETER_RECURRENCES_H
