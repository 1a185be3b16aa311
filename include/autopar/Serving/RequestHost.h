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
  /// Host time of a request, of each token of its prompt, and for each other
  /// answer that is sent meanwhile, in us.
  double requestUs = 0, perTokenUs = 0, perStreamUs = 0;
  /// Tokens that are sent at once, and steps between two looks for new
  /// requests.
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
  /// Time from the first token to its sending, for an answer of `answerTokens`,
  /// in us.
  double sendingUs(double answerTokens, double tokenUs) const {
    double tokens = std::min(static_cast<double>(streamInterval), answerTokens);
    return std::max(0.0, tokens - 1) * tokenUs;
  }
  /// Mean time until the engine looks for a request, beyond the step that runs
  /// at its arrival, in us.
  double receivingUs(double stepUs) const {
    return static_cast<double>(receiveInterval - 1) / 2 * stepUs;
  }
};

} // namespace autopar::serving

#endif // AUTOPAR_SERVING_REQUESTHOST_H
