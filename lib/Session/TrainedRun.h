//===- TrainedRun.h - Rows of training as runs ------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_SESSION_TRAINEDRUN_H
#define AUTOPAR_LIB_SESSION_TRAINEDRUN_H

#include "autopar/Model/Model.h"
#include "autopar/Validation/Names.h"
#include "autopar/Validation/TrainedPlan.h"

namespace autopar::session {

/// What was trained, on what, and how it was split.
struct TrainedRun {
  model::Model model;
  /// A system of the library, and of how many nodes.
  std::string system;
  int64_t nodes = 1;
  validation::TrainedPlan plan;
};

/// The model that a row is of: the one of that name, bundled or a folder of
/// `configs`, where it has the row's sizes; else one of a family that has them.
/// In 16 bits, whatever its checkpoint has. Adds to `assumed`. Errors: sizes
/// that are not stated.
Result<model::Model> trainedModelOf(const validation::TrainingRow &row,
                                    const validation::ModelNames &names,
                                    const std::string &configs,
                                    std::vector<std::string> &assumed);

/// `system`, or the one of `systems` called `system-N` whose nodes of N devices
/// `devices` fill, where they are more than a node and leave gaps in those of
/// `system`: jobs take 64 devices of each rack of 72.
struct TrainedSystem {
  std::string name;
  int64_t nodes = 1;
};
Result<TrainedSystem> trainedSystemOf(const std::string &system,
                                      int64_t devices);

} // namespace autopar::session

#endif // AUTOPAR_LIB_SESSION_TRAINEDRUN_H
