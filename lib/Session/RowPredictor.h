//===- RowPredictor.h - Rows of tables as deployments -----------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_SESSION_ROWPREDICTOR_H
#define AUTOPAR_LIB_SESSION_ROWPREDICTOR_H

#include "ServingPredictor.h"
#include "TrainingPredictor.h"
#include "autopar/Validation/MemoryRows.h"
#include "autopar/Validation/Names.h"
#include "autopar/Validation/ThroughputRows.h"
#include "autopar/Validation/ValidationReport.h"

namespace autopar::session {

/// Returns the rules by which tables and measurements name systems of the
/// library.
Result<validation::SystemNames> readSystemNames();

/// Resolves the names in rows of measurements, and predicts the rows.
class RowPredictor {
public:
  /// Creates a predictor; `configs` may be empty. Fails if a file of names is
  /// wrong or the folder does not exist.
  static Result<std::unique_ptr<RowPredictor>>
  create(const std::string &configs, std::vector<hardware::Override> overrides);

  /// Sets the predictions of `row`, or the reason why there are none. The rules
  /// decide about rounds of requests (`ServedLoad::rounds`) and about launches.
  void predict(validation::PredictedRow &row, const validation::RuleSet &rules);
  /// Set the predictions of rows about throughput, memory and training.
  void predict(validation::ThroughputRow &row);
  void predict(validation::MemoryRow &row);
  void predict(validation::TrainedRow &row);
  std::optional<validation::RowCapacity>
  capacityOf(const validation::ServingRow &row);
  std::optional<Error> unusedOverride() const {
    return predictor.unusedOverride(trainingPredictor.owners());
  }

private:
  RowPredictor(std::string configs, std::vector<hardware::Override> overrides,
               validation::ModelNames models, validation::SystemNames systems,
               std::vector<validation::Recipe> recipes)
      : configs(std::move(configs)), trainingPredictor(overrides),
        predictor(std::move(overrides)), models(std::move(models)),
        systems(std::move(systems)), recipes(std::move(recipes)) {}

  struct Match {
    ServedPlan plan;
    std::string model;
  };
  Result<Match> match(const validation::ServingRow &row);
  Result<TrainedRun> runOf(const validation::TrainingRow &row) const;
  Result<serving::SteadyState> predictPools(const validation::ServingRow &row,
                                            const ServedPlan &decode,
                                            double share);
  Result<std::string> weightFormatOf(const validation::ServingRow &row,
                                     const validation::ResolvedName &model,
                                     const std::string &argument);

  std::string configs;
  TrainingPredictor trainingPredictor;
  ServingPredictor predictor;
  validation::ModelNames models;
  validation::SystemNames systems;
  std::vector<validation::Recipe> recipes;
};

} // namespace autopar::session

#endif // AUTOPAR_LIB_SESSION_ROWPREDICTOR_H
