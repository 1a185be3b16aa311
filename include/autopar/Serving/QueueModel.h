//===- QueueModel.h - Times of requests in closed form ----------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_SERVING_QUEUEMODEL_H
#define AUTOPAR_SERVING_QUEUEMODEL_H

#include "autopar/Serving/LoadCurve.h"
#include "autopar/Serving/RequestHost.h"
#include "autopar/Serving/SteadyState.h"
#include "autopar/Serving/StepPrices.h"

namespace autopar::serving {

struct ServiceTimes;

/// Why a deployment serves nothing.
struct ServingRefusal {
  enum class Kind : uint8_t {
    none,
    /// The plan has no price: `step`.
    step,
    /// The KV caches do not hold one request.
    capacity,
  };
  Kind kind = Kind::none;
  cost::Refusal step = {};

  ServingRefusal() = default;
  ServingRefusal(Kind kind) : kind(kind) {}
  ServingRefusal(const cost::Refusal &refusal)
      : kind(refusal ? Kind::step : Kind::none), step(refusal) {}

  explicit operator bool() const { return kind != Kind::none; }
};

/// FLOPs of one request's decoding step and of its prefill, and tokens that the
/// KV caches of a replica hold. None of them depends on the load.
struct ServingFlops {
  double decode = 0, prompt = 0;
  int64_t capacityTokens = 0;
};

/// How fast a worker prefills prompts that other workers answer: the time of
/// one at an idle worker, in us, and most prompts per second.
struct PromptPace {
  double oneUs = 0;
  double mostPerS = 0;
};

/// Times of requests that one strategy serves on one machine, in closed form:
/// docs/serving.md derives it. `simulate` is its reference.
class QueueModel {
public:
  /// All arguments outlive it.
  QueueModel(cost::CompiledProgram &program, const hardware::Machine &machine,
             const runtime::Runtime &runtime,
             std::optional<double> memoryUtilization = std::nullopt);

  /// Places the strategy on devices, before anything else is asked. Each of
  /// `replicas` replicas serves requests of its own; `layout` is that of all.
  void lay(const cost::Layout &layout, int64_t replicas);
  /// What requests have encoded beside their text (default: nothing).
  void encode(const EncodedInput &input) { prices.encode(input); }

  /// Times and rates of the steady state under `load`.
  ServingRefusal timesOf(const ServedLoad &load, SteadyState &state);
  /// The same for a load with an arrival rate, where `roomOf` has set `state`;
  /// sets `times` unless the service is overloaded.
  ServingRefusal timesOfOpen(const ServedLoad &load, SteadyState &state,
                             ServiceTimes &times);
  /// Times at less and more load than `asked`, which `timesOf` has answered.
  ServingRefusal findCurve(const LoadPoint &asked, LoadCurve &curve);
  /// Output tokens per second of `batch` sequences that begin and end together.
  ServingRefusal runBatch(const ServedLoad &batch, double &tokensPerSecond);
  ServingRefusal count(const ServedLoad &load, ServingFlops &flops);
  /// Pace of a worker that only prefills.
  ServingRefusal paceOf(const ServedLoad &load, PromptPace &pace);
  /// Requests of a replica that have room (`state.running`), and the tokens of
  /// that room.
  ServingRefusal roomOf(const ServedLoad &load, SteadyState &state);
  /// The step in which `running` sequences of each replica decode.
  ServingRefusal stepAt(const ServedLoad &load, double running,
                        SteadyState &state);
  /// Time of the encoder in a step that encodes one request, in us.
  ServingRefusal timeEncoder(const ServedLoad &load, double &us);

  double replicaCount() const { return prices.replicaCount(); }
  double groupCount() const { return prices.groupCount(); }
  const RequestHost &requestHost() const { return host; }

private:
  const runtime::Runtime &runtime;
  RequestHost host;
  StepPrices prices;
};

} // namespace autopar::serving

#endif // AUTOPAR_SERVING_QUEUEMODEL_H
