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

/// The reason why a deployment cannot serve the load.
struct ServingRefusal {
  enum class Kind : uint8_t {
    none,
    /// The plan cannot be priced: `step` says why.
    step,
    /// The KV caches of a replica do not hold one request.
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

/// FLOPs of the decode step per request (`decode`) and of one prefill
/// (`prompt`), on all devices, and the tokens that the KV caches of a replica
/// hold. None of these depends on the load.
struct ServingFlops {
  double decode = 0, prompt = 0;
  int64_t capacityTokens = 0;
};

/// How fast a worker of a prefill pool works: `oneUs` is the time of one
/// prefill at an idle worker, in us; `mostPerS` is the largest number of
/// prompts per second.
struct PromptPace {
  double oneUs = 0;
  double mostPerS = 0;
};

/// Computes the times of requests that one strategy serves on one machine, in
/// closed form; docs/serving.md derives it. `simulate` computes the same by
/// simulation, and is its reference.
class QueueModel {
public:
  /// The arguments must outlive this object.
  QueueModel(cost::CompiledProgram &program, const hardware::Machine &machine,
             const runtime::Runtime &runtime,
             std::optional<double> memoryUtilization = std::nullopt);

  /// Sets the layout, before any other call. Each of `replicas` replicas serves
  /// requests of its own; `layout` is that of all replicas together.
  void lay(const cost::Layout &layout, int64_t replicas);
  /// Sets what requests have encoded besides their text; by default, nothing.
  void encode(const EncodedInput &input) { prices.encode(input); }

  /// Computes times and rates of the steady state under `load`.
  ServingRefusal timesOf(const ServedLoad &load, SteadyState &state);
  /// Computes times and rates like `timesOf`, for a load with an arrival rate
  /// and a `state` that `roomOf` has set. Sets `times` unless the service is
  /// overloaded.
  ServingRefusal timesOfOpen(const ServedLoad &load, SteadyState &state,
                             ServiceTimes &times);
  /// Computes the curve of times at less and more load than at `asked`, which
  /// `timesOf` has answered.
  ServingRefusal findCurve(const LoadPoint &asked, LoadCurve &curve);
  /// Computes the output tokens per second of `batch` sequences that begin at
  /// the same time and end at the same time.
  ServingRefusal runBatch(const ServedLoad &batch, double &tokensPerSecond);
  ServingRefusal count(const ServedLoad &load, ServingFlops &flops);
  /// Computes how fast a worker works that only prefills.
  ServingRefusal paceOf(const ServedLoad &load, PromptPace &pace);
  /// Computes for how many requests a replica has memory (`state.running`), and
  /// the tokens of its KV caches.
  ServingRefusal roomOf(const ServedLoad &load, SteadyState &state);
  /// Computes the step in which `running` sequences of each replica decode.
  ServingRefusal stepAt(const ServedLoad &load, double running,
                        SteadyState &state);
  /// Computes the time of the encoder, in us, in a step that encodes one
  /// request.
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
