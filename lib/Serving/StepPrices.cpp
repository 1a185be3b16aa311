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

static constexpr double picosecondsPerUs = 1e6;

/// Of q queries with c keys after them, q * (c - q/2) pairs; where c < q, those
/// before the first key see none: c * c/2.
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
  // Reading the program is not for nothing.
  if (count > 1)
    for (AxisId axis : program.program().lockStepAxes())
      together *= static_cast<double>(layout.axes[axis].size);
  together = std::min(together, replicas);
  laid = pricer.lay(layout);
}

/// FLOPs of long prompts may be above what prices count; they are rounded.
static bool isRounded(const Refusal &refusal) {
  return refusal.kind == Refusal::Kind::overflow &&
         refusal.index == static_cast<uint32_t>(ServingOutput::flops);
}

Refusal StepPrices::price(const StepLoad &load, StepTime &time) {
  const std::array<GroupValues, 2> groups = {
      GroupValues{load.decoding * replicas, 1 + load.drafts,
                  load.context + load.drafts, 0, 0},
      GroupValues{load.prompts * groupCount(), load.promptTokens,
                  load.promptContext, 0, 0}};
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
  if (load.drafts * load.draftCost * load.decoding <= 0)
    return {};
  StepTime plain;
  if (Refusal refused = price({load.decoding, load.context}, plain))
    return refused;
  time.us += load.drafts * load.draftCost * plain.us;
  return {};
}

Refusal StepPrices::priceServed(const StepLoad &load, StepTime &time) {
  Refusal refusal = price(load, time);
  if (load.prompts > 0)
    time.us = time.hostUs + runtime.promptStepUs.value +
              runtime.promptStepShare.value * (time.us - time.hostUs);
  return refusal;
}

Refusal StepPrices::priceBetween(StepLoad load, double StepLoad::*count,
                                 StepTime &time) {
  double fewer = std::floor(load.*count), share = load.*count - fewer;
  if (share == 0)
    return priceServed(load, time);
  load.*count = std::max(1.0, fewer);
  if (Refusal refusal = priceServed(load, time))
    return refusal;
  StepTime more;
  load.*count = fewer + 1;
  if (Refusal refusal = priceServed(load, more))
    return refusal;
  time.us += share * (more.us - time.us);
  return {};
}
