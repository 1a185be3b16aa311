//===- RowPredictor.h - Rows of tables as deployments -----------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_SESSION_ROWPREDICTOR_H
#define AUTOPAR_LIB_SESSION_ROWPREDICTOR_H

#include "TrainingPredictor.h"
#include "autopar/Pipelines/ServingPredictor.h"
#include "autopar/Validation/MemoryRows.h"
#include "autopar/Validation/Names.h"
#include "autopar/Validation/ThroughputRows.h"
#include "autopar/Validation/ValidationReport.h"

namespace autopar {

/// Finds what the names of rows mean, and predicts them.
class RowPredictor {
public:
  /// `configs` may be empty. Errors: files of names, a folder that is none.
  static Result<std::unique_ptr<RowPredictor>>
  create(const std::string &configs, std::vector<Override> overrides);

  /// Fills what is predicted of `row`, or why nothing is, of rounds of requests
  /// (`ServedLoad::rounds`) and launches as the rules say.
  void predict(PredictedRow &row, const RuleSet &rules);
  /// The same of throughput, and of memory.
  void predict(ThroughputRow &row);
  void predict(MemoryRow &row);
  void predict(TrainedRow &row);
  std::optional<RowCapacity> capacityOf(const ServingRow &row);
  std::optional<Error> unusedOverride() const {
    return predictor.unusedOverride(trainingPredictor.owners());
  }

private:
  RowPredictor(std::string configs, std::vector<Override> overrides,
               ModelNames models, SystemNames systems,
               std::vector<Recipe> recipes)
      : configs(std::move(configs)), trainingPredictor(overrides),
        predictor(std::move(overrides)), models(std::move(models)),
        systems(std::move(systems)), recipes(std::move(recipes)) {}

  struct Match {
    ServedPlan plan;
    std::string model;
  };
  Result<Match> match(const ServingRow &row);
  Result<TrainedRun> runOf(const TrainingRow &row) const;
  Result<SteadyState> predictPools(const ServingRow &row,
                                   const ServedPlan &decode, double share);
  Result<std::string> weightFormatOf(const ServingRow &row,
                                     const ResolvedName &model,
                                     const std::string &argument);

  std::string configs;
  TrainingPredictor trainingPredictor;
  ServingPredictor predictor;
  ModelNames models;
  SystemNames systems;
  std::vector<Recipe> recipes;
};

} // namespace autopar

#endif // AUTOPAR_LIB_SESSION_ROWPREDICTOR_H
