//===- StepPrices.cpp -----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Serving/StepPrices.h"

#include <algorithm>
#include <cmath>

using namespace autopar;
using namespace autopar::cost;
using namespace autopar::hardware;
using namespace autopar::program;
using namespace autopar::runtime;
using namespace autopar::serving;

static constexpr double picosecondsPerUs = 1e6;

/// q queries at the end of a context of c tokens attend to q (c - q/2) keys. If
/// c < q, the queries before the first key see no key, and the number is c c/2.
void StepLoad::joinPrompts(double tokens) {
  double pairs = tokens * (promptContext - promptTokens / 2);
  double keys = pairs / tokens + tokens / 2;
  promptContext = std::round(keys < tokens ? std::sqrt(2 * pairs) : keys);
  promptTokens = tokens;
}

StepPrices::StepPrices(CompiledProgram &program, const Machine &machine,
                       const Runtime &runtime,
                       std::optional<double> memoryUtilization)
    : program(program), runtime(runtime),
      pricer(program.serving(), machine, runtime, memoryUtilization) {}

void StepPrices::lay(const Layout &layout, int64_t count) {
  replicas = static_cast<double>(count);
  together = 1;
  // The axes are looked up only if there are several replicas.
  if (count > 1)
    for (AxisId axis : program.program().lockStepAxes())
      together *= static_cast<double>(layout.axes[axis].size);
  together = std::min(together, replicas);
  laid = pricer.lay(layout);
}

/// Returns whether only FLOPs overflow. FLOPs of long prompts are rounded
/// instead of refused.
static bool isRounded(const Refusal &refusal) {
  return refusal.kind == Refusal::Kind::overflow &&
         refusal.index == static_cast<uint32_t>(ServingOutput::flops);
}

Refusal StepPrices::priceGroups(const StepLoad &load, int64_t encoderTokens,
                                StepTime &time) {
  auto encoder = static_cast<double>(encoderTokens);
  auto cross = static_cast<double>(encoded.crossTokens);
  const std::array<GroupValues, 2> groups = {
      GroupValues{load.decoding * replicas, 1 + load.drafts,
                  load.context + load.drafts, 0, cross},
      GroupValues{load.prompts * groupCount(), load.promptTokens,
                  load.promptContext, encoder, cross}};
  double outputs[servingOutputCount];
  Refusal refusal = pricer.price(groups, outputs);
  if (refusal && !isRounded(refusal))
    return refusal;
  auto output = [&](ServingOutput which) {
    return outputs[static_cast<size_t>(which)];
  };
  time.us = output(ServingOutput::step_ps) / picosecondsPerUs;
  time.hostUs = output(ServingOutput::host_ps) / picosecondsPerUs;
  time.communicationUs =
      output(ServingOutput::communication_ps) / picosecondsPerUs;
  time.capacityTokens = output(ServingOutput::kv_capacity_tokens);
  time.flops = output(ServingOutput::flops);
  time.encoderUs = 0;
  return {};
}

void StepPrices::encode(const EncodedInput &input) {
  encoded = input;
  encodings.clear();
}

/// Prices the encoder of `requests` requests: the difference between a prefill
/// with the encoder and one without.
Refusal StepPrices::priceEncodings(int64_t requests, StepTime &time) {
  auto [known, isNew] = encodings.try_emplace(requests);
  if (isNew) {
    double tokens = std::max(1.0, std::round(encoded.promptTokens));
    StepLoad load{0, 1, static_cast<double>(requests), tokens, tokens};
    StepTime with, without;
    Refusal refusal = priceGroups(load, encoded.encoderTokens, with);
    if (!refusal)
      refusal = priceGroups(load, 0, without);
    if (refusal) {
      encodings.erase(known);
      return refusal;
    }
    known->second.us = std::max(0.0, with.us - without.us);
    known->second.communicationUs =
        std::max(0.0, with.communicationUs - without.communicationUs);
    known->second.flops = with.flops - without.flops;
  }
  time = known->second;
  return {};
}

Refusal StepPrices::addEncoder(const StepLoad &load, StepTime &time) {
  double requests = load.prompts * load.promptTokens / encoded.promptTokens;
  double fewer = std::floor(requests), share = requests - fewer;
  auto add = [&](double count, double weight) -> Refusal {
    if (count == 0 || weight == 0)
      return {};
    StepTime one;
    if (Refusal refusal = priceEncodings(static_cast<int64_t>(count), one))
      return refusal;
    time.us += weight * one.us;
    time.encoderUs += weight * one.us;
    time.communicationUs += weight * one.communicationUs;
    time.flops += weight * one.flops;
    return {};
  };
  if (Refusal refusal = add(fewer, 1 - share))
    return refusal;
  return add(fewer + 1, share);
}

Refusal StepPrices::price(const StepLoad &load, StepTime &time) {
  if (Refusal refusal = priceGroups(load, 0, time))
    return refusal;
  if (encoded.encoderTokens > 0 && load.prompts > 0)
    if (Refusal refusal = addEncoder(load, time))
      return refusal;
  if (load.drafts * load.draftCost * load.decoding <= 0)
    return {};
  StepTime plain;
  if (Refusal refused = price({load.decoding, load.context}, plain))
    return refused;
  time.us += load.drafts * load.draftCost * plain.us;
  return {};
}

/// The runtime's figures of steps with prompts were fitted to steps without
/// encoders.
Refusal StepPrices::priceServed(const StepLoad &load, StepTime &time) {
  Refusal refusal = price(load, time);
  if (load.prompts > 0)
    time.us = time.hostUs + runtime.promptStepUs.value +
              runtime.promptStepShare.value *
                  (time.us - time.encoderUs - time.hostUs) +
              time.encoderUs;
  return refusal;
}

Refusal StepPrices::priceBetween(StepLoad load, StepTime &time) {
  double fewer = std::floor(load.prompts), share = load.prompts - fewer;
  if (share == 0)
    return priceServed(load, time);
  load.prompts = std::max(1.0, fewer);
  if (Refusal refusal = priceServed(load, time))
    return refusal;
  StepTime more;
  load.prompts = fewer + 1;
  if (Refusal refusal = priceServed(load, more))
    return refusal;
  time.us += share * (more.us - time.us);
  return {};
}
