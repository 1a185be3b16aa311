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

/// A measured training: its model, machine and plan.
struct TrainedRun {
  model::Model model;
  /// A system of the library, and its number of nodes.
  std::string system;
  int64_t nodes = 1;
  validation::TrainedPlan plan;
};

/// Finds the model of a row: the one of that name, bundled or a folder of
/// `configs`, if it has the row's sizes; else one of a family that has them.
/// Its format is 16 bits, whatever the checkpoint has. Adds to `assumed`.
/// Errors: sizes that are not stated.
Result<model::Model> trainedModelOf(const validation::TrainingRow &row,
                                    const validation::ModelNames &names,
                                    const std::string &configs,
                                    std::vector<std::string> &assumed);

/// Finds the system of a row: `system`, or the one called `system-N` with nodes
/// of N devices, if `devices` devices are more than a node, fill its nodes, and
/// leave gaps in those of `system`. Example: jobs take 64 devices of each rack
/// of 72.
struct TrainedSystem {
  std::string name;
  int64_t nodes = 1;
};
Result<TrainedSystem> trainedSystemOf(const std::string &system,
                                      int64_t devices);

} // namespace autopar::session

#endif // AUTOPAR_LIB_SESSION_TRAINEDRUN_H
