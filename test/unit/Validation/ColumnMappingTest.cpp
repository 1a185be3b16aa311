//===- ColumnMappingTest.cpp - Tables of others ---------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Validation/ColumnMapping.h"

#include "Fixtures.h"

#include "autopar/Support/File.h"

#include <gtest/gtest.h>

using namespace autopar;
using namespace autopar::validation;

namespace {

TEST(ReadTable, MeasuredTables) {
  for (auto [name, rows] :
       {std::pair("serving.csv", 1965), std::pair("inference.json", 281),
        std::pair("memory.json", 83), std::pair("training.json", 393)}) {
    std::string path = test::sharedData(std::string("measured/") + name);
    if (!fileExists(path))
      GTEST_SKIP() << "no measured rows beside the repository";
    Result<DataTable> table = readTable(path);
    ASSERT_TRUE(table) << table.error().str();
    EXPECT_EQ(table->rows().size(), size_t(rows)) << name;
  }
}

/// "no error", or what applying the mapping `text` to columns x and y says.
std::string mappingError(const std::string &text) {
  Result<ColumnMapping> mapping = parseColumnMapping(text, "m.json");
  if (!mapping)
    return mapping.error().str();
  Result<DataTable> table = parseCsvTable("x,y\n1,2\n", "t.csv");
  Result<bool> applied = applyMapping(*table, *mapping, {"isl", "backend"});
  return applied ? "no error" : applied.error().str();
}

TEST(ColumnMapping, RenamesAndAddsConstants) {
  Result<ColumnMapping> mapping = parseColumnMapping(
      R"({"schema": "autopar.columns/1", "columns": {"x": "y", "y": "x"},
          "constants": {"backend": "vllm", "osl": 128}})",
      "m.json");
  ASSERT_TRUE(mapping) << mapping.error().str();
  Result<DataTable> table = parseCsvTable("x,y\n1,2\n", "t.csv");
  ASSERT_TRUE(applyMapping(*table, *mapping, {"x", "y", "backend", "osl"}));
  const DataTable::Row &row = table->rows()[0];
  EXPECT_EQ(table->cell(row, "x"), "2");
  EXPECT_EQ(table->cell(row, "y"), "1");
  EXPECT_EQ(table->cell(row, "backend"), "vllm");
  EXPECT_EQ(table->cell(row, "osl"), "128");
  EXPECT_EQ(table->cell(row, "nothing"), "");
  EXPECT_FALSE(table->has("nothing"));
}

TEST(ColumnMapping, ErrorsNameTheColumn) {
  const std::string head = R"({"schema": "autopar.columns/1", )";
  EXPECT_EQ(mappingError(head + R"("columns": {"iss": "x"}})"),
            "m.json: /columns: autopar has no column \"iss\", did you mean "
            "\"isl\"?\n  note: there are: isl, backend");
  EXPECT_EQ(mappingError(head + R"("columns": {"isl": "prompt"}})"),
            "m.json: /columns: t.csv has no column \"prompt\"\n"
            "  note: there are: x, y");
  EXPECT_EQ(mappingError(head + R"("constants": {"bckend": "vllm"}})"),
            "m.json: /constants: autopar has no column \"bckend\", did you "
            "mean \"backend\"?\n  note: there are: isl, backend");
  EXPECT_EQ(mappingError(head + R"("constants": {"isl": [1]}})"),
            "m.json: /constants/isl: expected a text or a number");
  EXPECT_EQ(mappingError(
                head + R"("columns": {"isl": "x"}, "constants": {"isl": 1}})"),
            "m.json: /constants/isl: \"isl\" is a column of the table already");
  EXPECT_EQ(mappingError(R"({"schema": "autopar.rules/1"})"),
            "m.json: /schema: expected \"autopar.columns/1\", found "
            "\"autopar.rules/1\"");
}

} // namespace
