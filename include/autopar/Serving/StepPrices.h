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

/// What one step of an engine computes: sequences that decode a token each, of
/// a replica (engines pad batches of replicas that step together to the largest
/// one), and prompts (or pieces of them) that are read, of all such replicas,
/// spread evenly. Sizes are those of one sequence in the mean; `context` counts
/// what its cache holds after the step.
struct StepLoad {
  double decoding = 0, context = 0;
  double prompts = 0, promptTokens = 1, promptContext = 1;
  /// Of each sequence that decodes, and what one takes as a part of a step that
  /// decodes without any.
  double drafts = 0, draftCost = 0;

  /// Prompts of one replica one after another, so many tokens in all, as one
  /// whose queries see as many keys as theirs do.
  void joinPrompts(double tokens);
};

/// Microseconds.
struct StepTime {
  double us = 0, hostUs = 0, communicationUs = 0;
  /// Tokens that the KV caches of a replica hold, and FLOPs of all devices.
  double capacityTokens = 0, flops = 0;
  /// The part of `us` that an encoder takes.
  double encoderUs = 0;
};

/// What requests have encoded beside their text. A step that prefills a share
/// of the tokens of a prompt encodes that share of the request's positions, as
/// engines encode an image when its place in the prompt is prefilled.
struct EncodedInput {
  /// Positions that an encoder encodes of each request, and those that cross
  /// attention sees of it in each step.
  int64_t encoderTokens = 0, crossTokens = 0;
  /// Tokens of a prompt in the mean.
  double promptTokens = 1;
};

/// Prices steps of one strategy on one machine. Exact for the compiled program;
/// what a runtime adds to steps with prompts is `Runtime::promptStepUs`.
class StepPrices {
public:
  /// All arguments outlive it.
  StepPrices(cost::CompiledProgram &program, const hardware::Machine &machine,
             const runtime::Runtime &runtime,
             std::optional<double> memoryUtilization = std::nullopt);

  /// Lays it on devices, before anything is asked of it. Each of `replicas`
  /// replicas computes its own sequences; `layout` is that of all.
  void lay(const cost::Layout &layout, int64_t replicas);
  /// What each request of later loads has encoded (default: nothing).
  void encode(const EncodedInput &input);

  cost::Refusal price(const StepLoad &load, StepTime &time);
  /// The same with what the runtime adds where there are prompts.
  cost::Refusal priceServed(const StepLoad &load, StepTime &time);
  /// The same where `count` of the load is a mean: steps have whole prompts,
  /// and replicas whole sequences; what is between two of them is on a line.
  cost::Refusal priceBetween(StepLoad load, double StepLoad::*count,
                             StepTime &time);

  /// Independent of loads: whether the plan is legal at all.
  const cost::Refusal &refusal() const { return laid; }
  double replicaCount() const { return replicas; }
  /// Of those, the ones that take each step together, as a collective joins
  /// them; other groups of as many have engines of their own.
  double togetherCount() const { return together; }
  double groupCount() const { return replicas / together; }

private:
  cost::Refusal priceGroups(const StepLoad &load, int64_t encoderTokens,
                            StepTime &time);
  /// What the encoder adds to a step that encodes whole requests, and any
  /// number of them: in proportion between whole ones.
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
