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
  /// The name of a system of the library, and its number of nodes.
  std::string system;
  int64_t nodes = 1;
  validation::TrainedPlan plan;
};

/// Finds the model of a row. It is the model of that name (bundled, or a folder
/// of `configs`) if it has the row's sizes; else a model of a family that has
/// these sizes. Its format is 16 bits, whatever the checkpoint has. Adds what
/// it assumed to `assumed`. Fails if sizes are not stated.
Result<model::Model> trainedModelOf(const validation::TrainingRow &row,
                                    const validation::ModelNames &names,
                                    const std::string &configs,
                                    std::vector<std::string> &assumed);

/// The system on which a row ran: `system`, or the system called `system-N`,
/// which has nodes of N devices. The second is meant if `devices` devices are
/// more than a node of `system`, fill nodes of N devices, and would leave gaps
/// in nodes of `system`. Example: jobs that take 64 devices of each rack of 72.
struct TrainedSystem {
  std::string name;
  int64_t nodes = 1;
};
Result<TrainedSystem> trainedSystemOf(const std::string &system,
                                      int64_t devices);

} // namespace autopar::session

#endif // AUTOPAR_LIB_SESSION_TRAINEDRUN_H
