//===- JsonParts.h - A report as a JSON tree --------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_WRITE_JSON_JSONPARTS_H
#define AUTOPAR_LIB_WRITE_JSON_JSONPARTS_H

#include "autopar/Report/Deployment.h"
#include "autopar/Report/Report.h"
#include "autopar/Support/JsonText.h"

namespace autopar::writing {

/// Returns the report as `autopar.report/1`, to be printed by `printJson`.
nlohmann::ordered_json writeTree(const report::Report &report);

/// Returns the member `schedule` of a report.
nlohmann::ordered_json writeSchedule(const report::Report::Pipeline &pipeline);
/// Returns the member `training` of a report.
nlohmann::ordered_json writeTraining(const report::TrainingReport &training);
/// Returns the member `serving` of a report.
nlohmann::ordered_json writeServing(const report::ServingReport &serving);
/// Returns the member `serving` of a deployment's report.
nlohmann::ordered_json writePools(const report::PoolsReport &pools);

} // namespace autopar::writing

#endif // AUTOPAR_LIB_WRITE_JSON_JSONPARTS_H
