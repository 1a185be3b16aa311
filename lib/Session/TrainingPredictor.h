//===- TrainingPredictor.h - Iterations of training, predicted --*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_SESSION_TRAININGPREDICTOR_H
#define AUTOPAR_LIB_SESSION_TRAININGPREDICTOR_H

#include "TrainedRun.h"

#include "autopar/Hardware/Hardware.h"

#include <memory>
#include <set>

namespace autopar::session {

/// Predicts training runs with the passes and the report of an estimate.
class TrainingPredictor {
public:
  explicit TrainingPredictor(std::vector<hardware::Override> overrides);
  ~TrainingPredictor();

  /// Predicts the time of an iteration and the peak of memory. If the run
  /// recomputes as needed, recomputation is the first of none, selective and
  /// full that fits, or else the last of them. Adds assumptions to those of the
  /// run. Fails if the run uses features that are not modelled.
  Result<validation::TrainingPrediction> predict(TrainedRun &run);

  /// Returns the owners of the figures that were read: "runtimes.nemo",
  /// "chips.h100-sxm".
  const std::set<std::string> &owners() const;

private:
  struct State;
  std::unique_ptr<State> state;
};

} // namespace autopar::session

#endif // AUTOPAR_LIB_SESSION_TRAININGPREDICTOR_H
