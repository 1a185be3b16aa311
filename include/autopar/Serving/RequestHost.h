//===- RequestHost.h - What a request takes outside of steps ----*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_SERVING_REQUESTHOST_H
#define AUTOPAR_SERVING_REQUESTHOST_H

#include "autopar/Runtime/Runtime.h"

#include <algorithm>

namespace autopar::serving {

/// The host work of a server for requests outside of engine steps, and how
/// often the engine polls for requests. The closed form and the simulation both
/// use it.
struct RequestHost {
  /// Host time in us: per request, per token of its prompt, and per other
  /// answer that is sent in the meantime.
  double requestUs = 0, perTokenUs = 0, perStreamUs = 0;
  /// `streamInterval`: number of tokens that are sent together.
  /// `receiveInterval`: number of steps between polls for new requests.
  int64_t streamInterval = 1, receiveInterval = 1;

  static RequestHost of(const runtime::Runtime &runtime) {
    auto one = [](const hardware::Figure &figure) {
      return static_cast<int64_t>(std::max(1.0, figure.value));
    };
    return {runtime.requestTimeUs.value, runtime.requestTimePerTokenUs.value,
            runtime.requestTimePerStreamUs.value, one(runtime.streamInterval),
            one(runtime.receiveInterval)};
  }

  double timeUs(double promptTokens, double streams) const {
    return requestUs + perTokenUs * promptTokens + perStreamUs * streams;
  }
  /// Returns the time in us from the making of the first token to its sending,
  /// for an answer of `answerTokens` tokens.
  double sendingUs(double answerTokens, double tokenUs) const {
    double tokens = std::min(static_cast<double>(streamInterval), answerTokens);
    return std::max(0.0, tokens - 1) * tokenUs;
  }
  /// Returns the mean time in us until the engine polls for a request, in
  /// addition to the step that runs at its arrival.
  double receivingUs(double stepUs) const {
    return static_cast<double>(receiveInterval - 1) / 2 * stepUs;
  }
};

} // namespace autopar::serving

#endif // AUTOPAR_SERVING_REQUESTHOST_H
