//===- TrainingKeys.h - Runs that belong together ---------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_VALIDATION_TRAININGKEYS_H
#define AUTOPAR_VALIDATION_TRAININGKEYS_H

#include "autopar/Validation/TrainingRow.h"

namespace autopar::validation {

/// The task: model, machine, devices, sequence length and format, as a key.
std::string taskKey(const TrainingRow &row);

enum class Microbatches : uint8_t { apart, together };
/// The task and its plan: everything but measurements.
std::string planKey(const TrainingRow &row, Microbatches microbatches);

} // namespace autopar::validation

#endif // AUTOPAR_VALIDATION_TRAININGKEYS_H
