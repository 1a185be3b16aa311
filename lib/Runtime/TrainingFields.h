//===- TrainingFields.h - The part of a runtime that trains -----*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_RUNTIME_TRAININGFIELDS_H
#define AUTOPAR_LIB_RUNTIME_TRAININGFIELDS_H

#include "autopar/Runtime/Runtime.h"
#include "autopar/Support/Json.h"

namespace autopar::runtime {

/// Refuses a figure that is a count but not an integer.
void checkWhole(const JsonReader &reader, const char *key,
                const hardware::Figure &figure);
/// Reads the member `training` of a runtime whose figures have paths below
/// `path`.
TrainingFigures readTrainingFields(const JsonReader &reader,
                                   const std::string &path);

} // namespace autopar::runtime

#endif // AUTOPAR_LIB_RUNTIME_TRAININGFIELDS_H
