//===- Json.h - Reports as JSON text ----------------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_WRITE_JSON_H
#define AUTOPAR_WRITE_JSON_H

#include "autopar/Report/Deployment.h"
#include "autopar/Report/ModelReport.h"
#include "autopar/Report/PlanDifferences.h"
#include "autopar/Report/PlanTable.h"
#include "autopar/Report/Report.h"

namespace autopar::writing {

// These functions write JSON texts, each valid against its schema in
// lib/Report/schema.
std::string writeJson(const report::Report &report);
std::string writeJson(const report::DeploymentReport &deployment);
std::string writeJson(const report::ModelReport &model);
std::string writeJson(const report::PlanDifferences &differences);
std::string writeJson(const std::vector<report::PlanTableRow> &rows);

} // namespace autopar::writing

#endif // AUTOPAR_WRITE_JSON_H
