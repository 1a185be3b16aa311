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

/// Returns a text about how many bytes `device` lacks, and about the largest
/// part of its memory.
std::string missingText(const Report::DeviceMemory &device,
                        const runtime::Runtime &runtime);
/// Warns if a plan does not fit in memory: it names the missing bytes, and a
/// degree or batch that fits.
void adviseOnFit(const EvaluatedStep &step, Warnings &warnings);
/// Warns about devices that hold the same part of the KV cache.
void adviseOnCacheCopies(const EvaluatedStep &step, Warnings &warnings);
/// Warns about replicas if one of them could hold all caches of the step.
void adviseOnIdleMemory(const EvaluatedStep &step, Warnings &warnings);
/// Warns about weights that are gathered in each step.
void adviseOnGatheredWeights(const EvaluatedStep &step, Warnings &warnings);

/// Warns about splits of sequences or of tokens over more devices than there
/// are sequences or tokens.
void adviseOnIdleDevices(const EvaluatedStep &step, Warnings &warnings);
/// Warns about axes by which the program never splits: the devices along them
/// repeat the same work.
void adviseOnIdleAxes(const EvaluatedStep &step, Warnings &warnings);
/// Warns about devices that have the same routed tokens and the same experts.
void adviseOnRepeatedExperts(const EvaluatedStep &step, Warnings &warnings);

/// Warns about groups of devices that leave the domain of the fastest links.
void adviseOnTiers(const EvaluatedStep &step, Warnings &warnings);
/// Warns about routed tokens that leave the domain of the fastest links.
void adviseOnExperts(const EvaluatedStep &step, Warnings &warnings);
/// Warns about layers whose most loaded device keeps the other devices waiting.
void adviseOnExpertLoads(const EvaluatedStep &step, Warnings &warnings);
/// Warns about rings whose transfers take longer than attention on the received
/// part of the keys.
void adviseOnRings(const EvaluatedStep &step, Warnings &warnings);

/// Warns about kernels that are priced by the curve of another format or
/// kernel.
void warnSubstitutedCurves(const EvaluatedStep &step, Warnings &warnings);
/// Warns about curves that were measured on other chips, and says how much such
/// curves differ between chips.
void warnOtherChips(const EvaluatedStep &step, const UsedFigures &used,
                    Warnings &warnings);
/// Warns about links whose bandwidth the user set, but not their efficiency.
void warnSetLinks(const EvaluatedStep &step, Warnings &warnings);
/// Lists the figures that a machine in short form takes from the library.
void warnDerivedMachine(const EvaluatedStep &step, Warnings &warnings);

/// Returns the degree that has these axes, or else the axes, with the number of
/// devices: "tp = 8".
std::string degreeText(const EvaluatedStep &step,
                       const std::vector<program::AxisId> &ids);
/// Returns whether `axis` is one of the axes of `degree`.
bool isAxisOf(const EvaluatedStep &step, program::AxisId axis,
              plan::Degree degree);
/// Returns which share of the step a time is: "3.2 ms of a step of 10.0 ms
/// (32%)".
std::string shareText(const EvaluatedStep &step, double timeUs);

} // namespace autopar::advice

#endif // AUTOPAR_LIB_ADVISE_ADVICE_H
