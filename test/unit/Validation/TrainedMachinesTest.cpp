//===- TrainedMachinesTest.cpp - Machines of measured training ------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fixtures.h"

#include "autopar/Support/File.h"
#include "autopar/Support/Library.h"
#include "autopar/Validation/Names.h"

#include <gtest/gtest.h>

using namespace autopar;
using namespace autopar::validation;
using namespace autopar::test;

/// No row is left out for want of a machine.
TEST(TrainedMachines, AllAreKnown) {
  std::string path = sharedData("measured/training.json");
  if (!fileExists(path))
    GTEST_SKIP() << "no measured rows beside the repository";
  std::string folder = AUTOPAR_SOURCE_DIR "/hardware";
  Result<NameRules> rules = readNameRules(folder + "/names.json");
  ASSERT_TRUE(rules) << rules.error().str();
  SystemNames names(std::move(*rules), namesIn(folder + "/systems"));
  Result<DataTable> table = readTable(path);
  ASSERT_TRUE(table) << table.error().str();
  for (const DataTable::Row &row : table->rows()) {
    ResolvedName found = names.find(std::string(table->cell(row, "hardware")));
    EXPECT_TRUE(found) << found.why;
  }
}
