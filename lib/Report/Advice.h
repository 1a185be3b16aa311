//===- Advice.h - What to know about a plan, and what works -----*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each function looks for one thing and says it with the numbers and the value
// that would work. Limits follow from counts and times of the reading.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_REPORT_ADVICE_H
#define AUTOPAR_LIB_REPORT_ADVICE_H

#include "Reading.h"

namespace autopar::report {

/// How much `device` has too little, and of what it has most.
std::string missingText(const Report::DeviceMemory &device,
                        const runtime::Runtime &runtime);
/// A plan that does not fit: by how much, and the degree or batch that would.
void adviseOnFit(Reading &reading);
/// Devices that hold the same part of the KV cache.
void adviseOnCacheCopies(Reading &reading);
/// Replicas of which one could hold all that the step caches.
void adviseOnIdleMemory(Reading &reading);
/// Weights that are gathered in each step.
void adviseOnGatheredWeights(Reading &reading);

/// Splits of sequences or tokens over more devices than there are.
void adviseOnIdleDevices(Reading &reading);
/// Axes that the program never splits by: their devices repeat the same work.
void adviseOnIdleAxes(Reading &reading);
/// Devices that have the same routed tokens and the same experts.
void adviseOnRepeatedExperts(Reading &reading);

/// Groups that leave the domain of the fastest links.
void adviseOnTiers(Reading &reading);
/// Routed tokens that do.
void adviseOnExperts(Reading &reading);
/// Layers whose hottest device keeps the others waiting.
void adviseOnExpertLoads(Reading &reading);
/// Rings whose transfers take longer than attention on what they bring.
void adviseOnRings(Reading &reading);

/// Kernels that are priced by the curve of another format or kernel.
void warnSubstitutedCurves(Reading &reading);
/// Curves that were measured on other chips, and how far apart those are.
void warnOtherChips(Reading &reading);
/// Links whose bandwidth the user set, and whose efficiency stays another's.
void warnSetLinks(Reading &reading);
/// What a machine of a few lines takes from the library.
void warnDerivedMachine(Reading &reading);
/// What a curve of its own would be called, of a kernel that `curve` prices
/// though it was measured on others; "" where it was measured on such.
std::string substitutedUse(const Reading &reading,
                           const program::Kernel &kernel,
                           const hardware::KernelCurve &curve);

/// "tp = 8": the degree, or else the axes, with these ids.
std::string degreeText(const Reading &reading,
                       const std::vector<program::AxisId> &ids);
/// Whether `axis` is one of those of `degree`.
bool isAxisOf(const Reading &reading, program::AxisId axis,
              plan::Degree degree);
/// "3.2 ms of a step of 10.0 ms (32%)".
std::string shareText(const Reading &reading, double timeUs);

} // namespace autopar::report

#endif // AUTOPAR_LIB_REPORT_ADVICE_H
