//===- ReportJson.h - A report as a JSON tree -------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_REPORT_REPORTJSON_H
#define AUTOPAR_LIB_REPORT_REPORTJSON_H

#include "autopar/Report/Deployment.h"
#include "autopar/Report/JsonText.h"
#include "autopar/Report/Report.h"

namespace autopar::report {

/// The report as `autopar.report/1`, to be printed by `printJson`.
nlohmann::ordered_json writeTree(const Report &report);

/// `training` of a report.
nlohmann::ordered_json writeTraining(const TrainingReport &training);
/// `serving` of a report.
nlohmann::ordered_json writeServing(const ServingReport &serving);
/// `serving` of a report of a deployment.
nlohmann::ordered_json writePools(const PoolsReport &pools);

} // namespace autopar::report

#endif // AUTOPAR_LIB_REPORT_REPORTJSON_H
