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

/// The server before an engine, and how often the two meet. Closed forms and
/// simulations have this law in common.
struct RequestHost {
  /// Microseconds: of a request, of a token of its prompt, and of each other
  /// answer that is sent meanwhile.
  double requestUs = 0, perTokenUs = 0, perStreamUs = 0;
  /// Tokens that are made before the first of them is sent, and steps from one
  /// look for new requests to the next.
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
  /// From the first token until it is sent, of so long an answer.
  double sendingUs(double answerTokens, double tokenUs) const {
    double tokens = std::min(static_cast<double>(streamInterval), answerTokens);
    return std::max(0.0, tokens - 1) * tokenUs;
  }
  /// Of steps that run one after another: beyond the one in which a request
  /// comes, those until the engine looks for it, in the mean.
  double receivingUs(double stepUs) const {
    return static_cast<double>(receiveInterval - 1) / 2 * stepUs;
  }
};

} // namespace autopar::serving

#endif // AUTOPAR_SERVING_REQUESTHOST_H
