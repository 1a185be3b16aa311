//===- StepPrices.h - Steps of an engine, priced ----------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_SERVING_STEPPRICES_H
#define AUTOPAR_SERVING_STEPPRICES_H

#include "autopar/Cost/CompiledProgram.h"
#include "autopar/Cost/Pricer.h"

#include <map>

namespace autopar::serving {

/// What one step of an engine computes: `decoding` sequences of each replica
/// that decode a token (lock-step replicas pad their batches to the largest),
/// and `prompts` of the whole lock-step group that are prefilled, or chunks of
/// these. Sizes are mean tokens per sequence; contexts count the cache after
/// the step.
struct StepLoad {
  double decoding = 0, context = 0;
  double prompts = 0, promptTokens = 1, promptContext = 1;
  /// Number of drafts of each decoding sequence, and time of one draft over
  /// that of a step without drafts.
  double drafts = 0, draftCost = 0;

  /// Replaces all prompts of the step by one of `tokens` tokens whose queries
  /// attend to as many keys on average.
  void joinPrompts(double tokens);
};

/// A priced step. Times are in us.
struct StepTime {
  double us = 0, hostUs = 0, communicationUs = 0;
  /// `capacityTokens`: tokens that the KV caches of a replica hold. `flops`:
  /// FLOPs of the step on all devices.
  double capacityTokens = 0, flops = 0;
  /// The part of `us` that an encoder takes.
  double encoderUs = 0;
};

/// Images or sound that requests contain besides text and that an encoder
/// encodes. A step that prefills a share of a prompt encodes the same share of
/// the request's positions: engines encode an image when its place in the
/// prompt is prefilled.
struct EncodedInput {
  /// Number of positions of each request that the encoder computes, and number
  /// of those that cross attention reads in each step.
  int64_t encoderTokens = 0, crossTokens = 0;
  /// Mean number of tokens of a prompt.
  double promptTokens = 1;
};

/// Prices the steps of one strategy on one machine: exactly as the compiled
/// program does, with the additional times `Runtime::promptStepUs` and
/// `promptStepShare` for steps with prompts.
class StepPrices {
public:
  /// The arguments must outlive this object.
  StepPrices(cost::CompiledProgram &program, const hardware::Machine &machine,
             const runtime::Runtime &runtime,
             std::optional<double> memoryUtilization = std::nullopt);

  /// Sets the layout, before any other call. Each of `replicas` replicas
  /// computes sequences of its own; `layout` is that of all replicas together.
  void lay(const cost::Layout &layout, int64_t replicas);
  /// Sets what each request of later loads has encoded; by default, nothing.
  void encode(const EncodedInput &input);

  cost::Refusal price(const StepLoad &load, StepTime &time);
  /// Prices a step like `price`, with the additional time that the runtime
  /// needs for steps with prompts.
  cost::Refusal priceServed(const StepLoad &load, StepTime &time);
  /// Prices a step like `priceServed` if `load.prompts` is a mean: interpolates
  /// linearly between the steps with the next lower and the next higher number
  /// of prompts.
  cost::Refusal priceBetween(StepLoad load, StepTime &time);

  /// Returns why the plan is illegal under any load; no refusal if it is legal.
  const cost::Refusal &refusal() const { return laid; }
  double replicaCount() const { return replicas; }
  /// `lockStepReplicas`: number of replicas in a lock-step group, whose steps a
  /// collective joins. `groupCount`: number of lock-step groups, each of which
  /// has an engine of its own.
  double lockStepReplicas() const { return together; }
  double groupCount() const { return replicas / together; }

private:
  cost::Refusal priceGroups(const StepLoad &load, int64_t encoderTokens,
                            StepTime &time);
  /// `priceEncodings`: the time that the encoder adds to a step that encodes
  /// `requests` whole requests. `addEncoder`: adds that time to a step with any
  /// number of requests, interpolating linearly between whole numbers.
  cost::Refusal priceEncodings(int64_t requests, StepTime &time);
  cost::Refusal addEncoder(const StepLoad &load, StepTime &time);

  cost::CompiledProgram &program;
  const runtime::Runtime &runtime;
  double replicas = 1, together = 1;
  cost::Pricer pricer;
  cost::Refusal laid;
  EncodedInput encoded;
  /// Results of `priceEncodings`, by number of requests.
  std::map<int64_t, StepTime> encodings;
};

} // namespace autopar::serving

#endif // AUTOPAR_SERVING_STEPPRICES_H
