//===- SearchPage.cpp - A search as a page --------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Search/SearchReport.h"

#include "autopar/Page/Page.h"

using namespace autopar;
using namespace autopar::page;
using namespace autopar::report;
using namespace autopar::search;

Result<std::string> autopar::search::writePage(const SearchReport &report) {
  PageMembers members = {{"search", writeJson(report)}};
  if (const auto &shown = report.best ? report.best : report.closest)
    members.emplace_back("report", writeJson(*shown));
  return makePage("autopar: " + report.model, members, writeText(report));
}
