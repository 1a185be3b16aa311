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

/// A page of the report, in one file; `module` is the text of the module that
/// it is about, `other` the report of the other phase, if any. Numbers of a
/// page are clicked for their derivations: `report` should have them. Errors:
/// files of pages that are not installed.
Result<std::string> writePage(const report::Report &report,
                              const std::string &module,
                              const report::Report *other = nullptr);
Result<std::string> writePage(const report::DeploymentReport &report,
                              const std::string &module);
/// Plans, machines or models side by side.
Result<std::string> writePage(const std::vector<report::PlanTableRow> &rows);
/// Two plans side by side, and in what they differ.
Result<std::string> writePage(const report::PlanDifferences &differences);

} // namespace autopar::writing

#endif // AUTOPAR_WRITE_PAGE_H
