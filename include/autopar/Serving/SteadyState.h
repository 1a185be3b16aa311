//===- SteadyState.h - Engines under constant load --------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// So many requests at once, each followed by another: what a token takes in the
// mean, and what a first one does. Steps are those of the compiled strategy.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_SERVING_STEADYSTATE_H
#define AUTOPAR_SERVING_STEADYSTATE_H

#include "autopar/Serving/StepPrices.h"

namespace autopar {

/// Requests of a closed loop.
struct ClosedLoop {
  /// Of the whole deployment.
  int64_t concurrency = 1;
  /// Of a request in the mean.
  double promptTokens = 1, answerTokens = 1;
  /// Requests that each of them makes in turn, the first of all at once, as
  /// benchmarks do; 0 is without beginning or end.
  double rounds = 0;
};

/// Why a deployment does not serve.
struct ServingRefusal {
  enum class Kind : uint8_t {
    none,
    /// The plan has no price: `step`.
    step,
    /// The KV caches do not hold one request.
    capacity,
  };
  Kind kind = Kind::none;
  Refusal step = {};

  explicit operator bool() const { return kind != Kind::none; }
};

/// Times are microseconds.
struct SteadyState {
  /// Requests of a replica that run at once in the mean, and prompts that a
  /// step with any has.
  double running = 0, promptsPerStep = 0;
  /// Whether requests wait for room in the KV caches.
  bool isCacheFull = false;
  /// Tokens that the KV caches of a replica hold.
  double capacityTokens = 0;
  /// A step that decodes, one that has prompts too (or, of a runtime that
  /// alternates, alone), and what a prompt adds to the steps of the others.
  double decodeStepUs = 0, promptStepUs = 0, addedByPromptUs = 0;
  /// Of the decoding step, its communication and its host's, layers included.
  double communicationUs = 0, hostUs = 0;
  /// Mean times, to the first token those of all rounds.
  double tpotUs = 0, ttftUs = 0;
  /// Of the whole deployment.
  double outputTokensPerSecond = 0;
};

/// What of a deployment depends on no load: of one request.
struct ServingFlops {
  double decode = 0, prompt = 0;
  /// Of a replica.
  int64_t capacityTokens = 0;
};

/// Serves requests with one strategy on one machine.
class Server {
public:
  /// All arguments outlive it.
  Server(CompiledProgram &program, const Machine &machine,
         const Runtime &runtime,
         std::optional<double> memoryUtilization = std::nullopt);

  /// Lays it on devices, before anything is asked of it. Of `replicas` replicas
  /// each has its own part of the requests; `layout` is that of all.
  void lay(const Layout &layout, int64_t replicas);

  ServingRefusal serve(const ClosedLoop &load, SteadyState &state);
  /// Output tokens per second of `batch` sequences from their prompts to their
  /// last tokens, none of which begins or ends alone.
  ServingRefusal runBatch(const ClosedLoop &batch, double &tokensPerSecond);
  ServingRefusal count(double promptTokens, double answerTokens,
                       ServingFlops &flops);

private:
  ServingRefusal price(const StepLoad &load, StepTime &step);
  ServingRefusal priceServed(const StepLoad &load, StepTime &step);
  /// Where `prompts` is a mean, at least 1.
  ServingRefusal priceWithPrompts(StepLoad load, StepTime &step);
  double promptsPerStep(const ClosedLoop &load, double running) const;
  ServingRefusal burst(const ClosedLoop &load, double running, double &us);

  const Runtime &runtime;
  StepPrices prices;
};

} // namespace autopar

#endif // AUTOPAR_SERVING_STEADYSTATE_H
