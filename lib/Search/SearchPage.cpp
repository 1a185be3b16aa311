//===- SearchPage.cpp - A search as a page --------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Search/SearchReport.h"

#include "autopar/Page/Page.h"
#include "autopar/Write/Json.h"

using namespace autopar;
using namespace autopar::page;
using namespace autopar::search;
using namespace autopar::writing;

Result<std::string> autopar::search::writePage(const SearchReport &report) {
  PageMembers members = {{"search", writeJson(report)}};
  if (const auto &shown = report.best ? report.best : report.closest)
    members.emplace_back("report", writing::writeJson(*shown));
  return makePage("autopar: " + report.model, members, writeText(report));
}
