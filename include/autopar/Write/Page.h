//===- Page.h - A report as a page ------------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_WRITE_PAGE_H
#define AUTOPAR_WRITE_PAGE_H

#include "autopar/Report/Deployment.h"
#include "autopar/Report/PlanDifferences.h"
#include "autopar/Report/PlanTable.h"
#include "autopar/Report/Report.h"
#include "autopar/Support/Result.h"

#include <string>

namespace autopar::writing {

/// Returns an HTML page with the report, in one file. `module` is the IR text
/// of the report's module, `other` the report of the other phase, if any.
/// Readers click numbers for their derivations, so `report` should have
/// derivations. Error: files of the page are not installed.
Result<std::string> writePage(const report::Report &report,
                              const std::string &module,
                              const report::Report *other = nullptr);
Result<std::string> writePage(const report::DeploymentReport &report,
                              const std::string &module);
/// Returns an HTML page that shows plans, machines or models side by side.
Result<std::string> writePage(const std::vector<report::PlanTableRow> &rows);
/// Returns an HTML page that shows two plans side by side, and their
/// differences.
Result<std::string> writePage(const report::PlanDifferences &differences);

} // namespace autopar::writing

#endif // AUTOPAR_WRITE_PAGE_H
