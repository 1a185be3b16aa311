//===- Advice.h - Checks of a plan, with alternatives -----------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each function checks for one problem, and reports it with its numbers and
// with a value that works. Thresholds follow from counts and times of the step.
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

/// Says how many bytes `device` lacks, and its largest part.
std::string missingText(const Report::DeviceMemory &device,
                        const runtime::Runtime &runtime);
/// Warns if a plan does not fit: the missing bytes, and a degree or batch that
/// fits.
void adviseOnFit(const EvaluatedStep &step, Warnings &warnings);
/// Warns about devices that hold the same part of the KV cache.
void adviseOnCacheCopies(const EvaluatedStep &step, Warnings &warnings);
/// Warns about replicas if one of them could hold all caches of the step.
void adviseOnIdleMemory(const EvaluatedStep &step, Warnings &warnings);
/// Warns about weights that are gathered in each step.
void adviseOnGatheredWeights(const EvaluatedStep &step, Warnings &warnings);

/// Warns about splits of sequences or tokens over more devices than there are
/// of them.
void adviseOnIdleDevices(const EvaluatedStep &step, Warnings &warnings);
/// Warns about axes that the program never splits by: their devices repeat the
/// same work.
void adviseOnIdleAxes(const EvaluatedStep &step, Warnings &warnings);
/// Warns about devices that have the same routed tokens and the same experts.
void adviseOnRepeatedExperts(const EvaluatedStep &step, Warnings &warnings);

/// Warns about groups that leave the domain of the fastest links.
void adviseOnTiers(const EvaluatedStep &step, Warnings &warnings);
/// Warns about routed tokens that leave it.
void adviseOnExperts(const EvaluatedStep &step, Warnings &warnings);
/// Warns about layers whose most loaded device keeps the others waiting.
void adviseOnExpertLoads(const EvaluatedStep &step, Warnings &warnings);
/// Warns about rings whose transfers take longer than attention on the received
/// part.
void adviseOnRings(const EvaluatedStep &step, Warnings &warnings);

/// Warns about kernels that are priced by the curve of another format or
/// kernel.
void warnSubstitutedCurves(const EvaluatedStep &step, Warnings &warnings);
/// Warns about curves that were measured on other chips, and how much those
/// differ.
void warnOtherChips(const EvaluatedStep &step, const UsedFigures &used,
                    Warnings &warnings);
/// Warns about links whose bandwidth the user set, but not their efficiency.
void warnSetLinks(const EvaluatedStep &step, Warnings &warnings);
/// Lists the figures that a machine in short form takes from the library.
void warnDerivedMachine(const EvaluatedStep &step, Warnings &warnings);

/// The degree with these axes, or else the axes: "tp = 8".
std::string degreeText(const EvaluatedStep &step,
                       const std::vector<program::AxisId> &ids);
/// Whether `axis` is one of those of `degree`.
bool isAxisOf(const EvaluatedStep &step, program::AxisId axis,
              plan::Degree degree);
/// The share of the step: "3.2 ms of a step of 10.0 ms (32%)".
std::string shareText(const EvaluatedStep &step, double timeUs);

} // namespace autopar::advice

#endif // AUTOPAR_LIB_ADVISE_ADVICE_H
