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
/// them. Sizes are mean tokens of a sequence; contexts count the cache after
/// the step.
struct StepLoad {
  double decoding = 0, context = 0;
  double prompts = 0, promptTokens = 1, promptContext = 1;
  /// Drafts of each decoding sequence, and the time of one over that of a step
  /// without drafts.
  double drafts = 0, draftCost = 0;

  /// Replaces the prompts by one of `tokens` tokens whose queries attend to as
  /// many keys as theirs do in the mean.
  void joinPrompts(double tokens);
};

/// A priced step. Times are us.
struct StepTime {
  double us = 0, hostUs = 0, communicationUs = 0;
  /// Tokens that the KV caches of a replica hold; FLOPs of all devices.
  double capacityTokens = 0, flops = 0;
  /// The part of `us` that an encoder takes.
  double encoderUs = 0;
};

/// Images or sound that requests have encoded beside their text. A step that
/// prefills a share of a prompt encodes that share of the request's positions:
/// engines encode an image when its place in the prompt is prefilled.
struct EncodedInput {
  /// Positions of each request that the encoder computes, and those that cross
  /// attention reads in each step.
  int64_t encoderTokens = 0, crossTokens = 0;
  /// Mean tokens of a prompt.
  double promptTokens = 1;
};

/// Prices steps of one strategy on one machine: exactly those of the compiled
/// program, and `Runtime::promptStepUs` and `promptStepShare` for steps with
/// prompts.
class StepPrices {
public:
  /// All arguments outlive it.
  StepPrices(cost::CompiledProgram &program, const hardware::Machine &machine,
             const runtime::Runtime &runtime,
             std::optional<double> memoryUtilization = std::nullopt);

  /// Places the strategy on devices, before anything else is asked. Each of
  /// `replicas` replicas computes sequences of its own; `layout` is that of
  /// all.
  void lay(const cost::Layout &layout, int64_t replicas);
  /// Sets what each request of later loads has encoded (default: nothing).
  void encode(const EncodedInput &input);

  cost::Refusal price(const StepLoad &load, StepTime &time);
  /// The same with what the runtime adds to steps with prompts.
  cost::Refusal priceServed(const StepLoad &load, StepTime &time);
  /// The same where `load.prompts` is a mean: linear between the steps with the
  /// next lower and higher number of prompts.
  cost::Refusal priceBetween(StepLoad load, StepTime &time);

  /// Why the plan is illegal under any load, if it is.
  const cost::Refusal &refusal() const { return laid; }
  double replicaCount() const { return replicas; }
  /// Replicas of a lock-step group, whose steps a collective joins; and the
  /// groups, each an engine of its own.
  double lockStepReplicas() const { return together; }
  double groupCount() const { return replicas / together; }

private:
  cost::Refusal priceGroups(const StepLoad &load, int64_t encoderTokens,
                            StepTime &time);
  /// What the encoder adds to a step that encodes `requests` whole requests;
  /// and to one of any number of them, linearly between whole ones.
  cost::Refusal priceEncodings(int64_t requests, StepTime &time);
  cost::Refusal addEncoder(const StepLoad &load, StepTime &time);

  cost::CompiledProgram &program;
  const runtime::Runtime &runtime;
  double replicas = 1, together = 1;
  cost::Pricer pricer;
  cost::Refusal laid;
  EncodedInput encoded;
  /// Results of `priceEncodings` by requests.
  std::map<int64_t, StepTime> encodings;
};

} // namespace autopar::serving

#endif // AUTOPAR_SERVING_STEPPRICES_H
