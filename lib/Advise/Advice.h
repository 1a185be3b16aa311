//===- Advice.h - What to know about a plan, and what works -----*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each function looks for one thing and says it with the numbers and the value
// that would work. Limits follow from counts and times of the step.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_ADVISE_ADVICE_H
#define AUTOPAR_LIB_ADVISE_ADVICE_H

#include "autopar/Evaluate/UsedFigures.h"

namespace autopar::advice {

using evaluation::EvaluatedStep;
using evaluation::UsedFigures;
using report::Report;
using Warnings = std::vector<report::Warning>;

/// How much `device` has too little, and of what it has most.
std::string missingText(const Report::DeviceMemory &device,
                        const runtime::Runtime &runtime);
/// A plan that does not fit: by how much, and the degree or batch that would.
void adviseOnFit(const EvaluatedStep &step, Warnings &warnings);
/// Devices that hold the same part of the KV cache.
void adviseOnCacheCopies(const EvaluatedStep &step, Warnings &warnings);
/// Replicas of which one could hold all that the step caches.
void adviseOnIdleMemory(const EvaluatedStep &step, Warnings &warnings);
/// Weights that are gathered in each step.
void adviseOnGatheredWeights(const EvaluatedStep &step, Warnings &warnings);

/// Splits of sequences or tokens over more devices than there are.
void adviseOnIdleDevices(const EvaluatedStep &step, Warnings &warnings);
/// Axes that the program never splits by: their devices repeat the same work.
void adviseOnIdleAxes(const EvaluatedStep &step, Warnings &warnings);
/// Devices that have the same routed tokens and the same experts.
void adviseOnRepeatedExperts(const EvaluatedStep &step, Warnings &warnings);

/// Groups that leave the domain of the fastest links.
void adviseOnTiers(const EvaluatedStep &step, Warnings &warnings);
/// Routed tokens that do.
void adviseOnExperts(const EvaluatedStep &step, Warnings &warnings);
/// Layers whose hottest device keeps the others waiting.
void adviseOnExpertLoads(const EvaluatedStep &step, Warnings &warnings);
/// Rings whose transfers take longer than attention on what they bring.
void adviseOnRings(const EvaluatedStep &step, Warnings &warnings);

/// Kernels that are priced by the curve of another format or kernel.
void warnSubstitutedCurves(const EvaluatedStep &step, Warnings &warnings);
/// Curves that were measured on other chips, and how far apart those are.
void warnOtherChips(const EvaluatedStep &step, const UsedFigures &used,
                    Warnings &warnings);
/// Links whose bandwidth the user set, and whose efficiency stays another's.
void warnSetLinks(const EvaluatedStep &step, Warnings &warnings);
/// What a machine of a few lines takes from the library.
void warnDerivedMachine(const EvaluatedStep &step, Warnings &warnings);

/// "tp = 8": the degree, or else the axes, with these ids.
std::string degreeText(const EvaluatedStep &step,
                       const std::vector<program::AxisId> &ids);
/// Whether `axis` is one of those of `degree`.
bool isAxisOf(const EvaluatedStep &step, program::AxisId axis,
              plan::Degree degree);
/// "3.2 ms of a step of 10.0 ms (32%)".
std::string shareText(const EvaluatedStep &step, double timeUs);

} // namespace autopar::advice

#endif // AUTOPAR_LIB_ADVISE_ADVICE_H
