//===- TrainingTimes.cpp --------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Cost/TrainingTimes.h"

#include <algorithm>
#include <cmath>

using namespace autopar;
using namespace autopar::cost;
using namespace autopar::program;
using namespace autopar::runtime;
using namespace autopar::schedule;

void TrainingTimes::add(const TrainingTimes &other, int64_t count) {
  for (size_t i = 0; i < sectionCount; ++i)
    for (Picoseconds SectionTimes::*part :
         {&SectionTimes::kernelsPs, &SectionTimes::communicationPs,
          &SectionTimes::dispatchPs, &SectionTimes::inputPs,
          &SectionTimes::gatherPs, &SectionTimes::reductionPs,
          &SectionTimes::copiesPs})
      sections[i].*part += count * (other.sections[i].*part);
  weightGradientPs += count * other.weightGradientPs;
  savedBytes += count * other.savedBytes;
}

TrainingTimes &TrainingTimes::operator+=(const TrainingTimes &other) {
  add(other, 1);
  return *this;
}

TrainingTimes &TrainingTimes::operator-=(const TrainingTimes &other) {
  add(other, -1);
  return *this;
}

static Picoseconds partOf(Picoseconds time, double share) {
  return static_cast<Picoseconds>(
      std::floor(static_cast<double>(time) * share));
}

/// Hides `time` behind `room`, and takes the hidden time from `room`. Kernels
/// slow down by the fraction `contention` of the communication that runs beside
/// them.
static void hide(Picoseconds &time, Picoseconds &room, double contention) {
  Picoseconds hidden = std::min(time, room);
  time -= hidden - partOf(hidden, contention);
  room -= hidden;
}

static void hideShare(Picoseconds &time, double share) {
  time -= partOf(time, share);
}

bool autopar::cost::routesTokens(const CostProgram &program) {
  return std::any_of(program.kernels.begin(), program.kernels.end(),
                     [](const Kernel &kernel) { return kernel.routed; });
}

double autopar::cost::lostShareOf(const CostProgram &program,
                                  const Runtime &runtime) {
  if (!runtime.training)
    return 0;
  double hosts = runtime.training->routingHostShare.value;
  return runtime.training->stragglerShare.value +
         (routesTokens(program) ? hosts : 0);
}

TrainingTimes autopar::cost::exposedOf(const TrainingTimes &times,
                                       const Runtime &runtime) {
  TrainingTimes exposed = times;
  if (!runtime.training)
    return exposed;
  const TrainingFigures &rules = *runtime.training;
  SectionTimes &forward = exposed.of(Section::forward),
               &backward = exposed.of(Section::backward),
               &optimizer = exposed.of(Section::optimizer);
  Picoseconds besideForward = forward.kernelsPs,
              besideBackward = backward.kernelsPs;
  auto hideBehind = [&](Picoseconds &time, Picoseconds &room) {
    hide(time, room, rules.contention.value);
  };
  if (rules.overlapsInputs.value != 0) {
    Picoseconds products = times.weightGradientPs;
    hideBehind(backward.inputPs, products);
    besideBackward -= times.weightGradientPs - products;
  }
  for (SectionTimes *section : {&forward, &backward}) {
    hideShare(section->communicationPs, rules.hiddenCommunication.value);
    hideShare(section->inputPs, rules.hiddenCommunication.value);
    Picoseconds seen = section->dispatchPs;
    hideShare(seen, rules.hiddenDispatch.value);
    section->dispatchPs =
        std::max(seen, section->dispatchPs - section->kernelsPs);
  }
  if (rules.overlapsGathers.value != 0) {
    hideBehind(forward.gatherPs, besideForward);
    hideBehind(backward.gatherPs, besideBackward);
    hideBehind(optimizer.gatherPs, besideForward);
  }
  if (rules.overlapsReductions.value != 0) {
    hideBehind(forward.reductionPs, besideForward);
    hideBehind(backward.reductionPs, besideBackward);
    hideBehind(optimizer.reductionPs, besideBackward);
  }
  return exposed;
}
