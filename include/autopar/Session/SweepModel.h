//===- SweepModel.h - A table of estimates of a model -----------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_SESSION_SWEEPMODEL_H
#define AUTOPAR_SESSION_SWEEPMODEL_H

#include "autopar/Session/SearchRequests.h"
#include "autopar/Session/SweepAxes.h"
#include "autopar/Sweep/Sweep.h"

namespace autopar::session {

/// A function that is called with the number of finished rows, the number of
/// all rows, and a text on the state of the next row; the sweep stops if it
/// returns false.
using SweepProgress =
    std::function<bool(size_t done, size_t count, const std::string &more)>;

/// A sweep of a model: an estimate, or a search, for every point of the axes.
class ModelSweep {
public:
  /// Reads the sweep from flags. Errors: all those that can be found without
  /// the model.
  static Result<ModelSweep> read(const SweepChoices &choices,
                                 const pipelines::PlanFlags &flags,
                                 pipelines::PlanValues values);

  size_t rows() const { return count; }
  const std::vector<sweep::SweepAxis> &axes() const { return report.axes; }

  /// Returns the table, which is incomplete if `progress` stopped the sweep.
  /// Errors: those of the model, and flags that are invalid in all rows.
  Result<sweep::SweepReport> run(Session &session,
                                 const importer::ModelRequest &model,
                                 const std::string &name,
                                 const SweepProgress &progress);

private:
  ModelSweep(const SweepChoices &choices, const pipelines::PlanFlags &flags,
             pipelines::PlanValues values)
      : choices(choices), flags(flags), values(std::move(values)) {}

  bool searches() const {
    return choices.searches || !choices.search.devices.empty();
  }
  std::optional<Error> readAxes();
  std::optional<Error> checkPlans();
  std::optional<Error> checkFirst() const;

  Result<pipelines::PlanRequest>
  requestAt(const sweep::SweepPoint &point) const;
  pipelines::PlanValues valuesAt(const sweep::SweepPoint &point) const {
    return autopar::session::valuesAt(report.axes, point, flags, values);
  }
  std::optional<Error> setSearched(const sweep::SweepPoint &point,
                                   SearchRequest &request) const;
  std::optional<sweep::SweepRow> rowAt(Session &session,
                                       const importer::ModelRequest &model,
                                       const sweep::SweepPoint &point,
                                       const pipelines::PlanRequest &request,
                                       const SweepProgress &progress) const;
  std::optional<sweep::SweepRow> searchAt(Session &session,
                                          const importer::ModelRequest &model,
                                          const sweep::SweepPoint &point,
                                          const pipelines::PlanRequest &base,
                                          const SweepProgress &progress) const;

  SweepChoices choices;
  const pipelines::PlanFlags &flags;
  pipelines::PlanValues values;
  sweep::SweepReport report;
  size_t count = 0;
  bool isService = false;
};

} // namespace autopar::session

#endif // AUTOPAR_SESSION_SWEEPMODEL_H
