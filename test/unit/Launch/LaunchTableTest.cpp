//===- LaunchTableTest.cpp ------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Launch/LaunchTable.h"

#include "gtest/gtest.h"

using namespace autopar;
using namespace autopar::launch;

namespace {

TEST(LaunchTable, VersionsAreComparedByNumbers) {
  EXPECT_EQ(parseVersion("v0.11rc1"), (Version{0, 11}));
  EXPECT_EQ(parseVersion("0.5.23-cu130"), (Version{0, 5, 23}));
  EXPECT_FALSE(parseVersion("latest"));
  VersionRange range = {Version{0, 9}, Version{0, 10}};
  EXPECT_TRUE(range.has({0, 10, 2}));
  EXPECT_TRUE(range.has({0, 9}));
  EXPECT_FALSE(range.has({0, 11}));
  EXPECT_FALSE(range.has({0, 8, 9}));
}

TEST(LaunchTable, AVersionBetweenRecordedOnesHasTheNamesOfEither) {
  LaunchTable table;
  table.versions = {"0.10", "0.14", "0.22"};
  EXPECT_EQ(table.recordedVersion(Version{0, 16}), "0.14");
  EXPECT_EQ(table.recordedVersion(Version{0, 1}), "0.10");
  EXPECT_EQ(table.recordedVersion(std::nullopt), "0.22");
  EXPECT_EQ(table.versionsAround({0, 16}),
            (std::vector<Version>{{0, 14}, {0, 22}}));
  EXPECT_EQ(table.versionsAround({0, 14, 1}), (std::vector<Version>{{0, 14}}));
}

TEST(LaunchTable, AllTablesOfTheLibraryAreRead) {
  setenv("AUTOPAR_DATA", AUTOPAR_SOURCE_DIR, /*overwrite=*/1);
  Result<std::vector<LaunchTable>> tables = loadLaunchTables();
  ASSERT_TRUE(tables) << tables.error().str();
  EXPECT_GE(tables->size(), 4u);
}

TEST(LaunchTable, UnknownMembersAreRefused) {
  Result<JsonDocument> document = JsonDocument::parse(
      R"({"schema": "autopar.launch_table/1", "name": "x", "titel": "X"})",
      "x.json");
  ASSERT_TRUE(document);
  Result<LaunchTable> table = readLaunchTable(*document);
  ASSERT_FALSE(table);
  EXPECT_NE(table.error().str().find("titel"), std::string::npos);
}

} // namespace
