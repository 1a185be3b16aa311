//===- TableTest.cpp - Tables of text cells -------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Support/Table.h"

#include "autopar/Support/File.h"
#include "autopar/Support/Limits.h"

#include <gtest/gtest.h>

using namespace autopar;

namespace {

using Cells = std::vector<std::string>;

std::string errorOf(const Result<DataTable> &table) {
  return table ? "no error" : table.error().str();
}

std::string csvError(const std::string &text) {
  return errorOf(parseCsvTable(text, "t.csv"));
}

std::string jsonError(const std::string &text) {
  return errorOf(parseJsonTable(text, "t.json"));
}

TEST(CsvTable, CellsAreTrimmedUnlessQuoted) {
  Result<DataTable> table =
      parseCsvTable("a,b\n 1 , \" x, \"\"y\"\" \"\n", "t.csv");
  ASSERT_TRUE(table) << table.error().str();
  EXPECT_EQ(table->columns(), (Cells{"a", "b"}));
  ASSERT_EQ(table->rows().size(), 1u);
  EXPECT_EQ(table->rows()[0].cells, (Cells{"1", " x, \"y\" "}));
}

TEST(CsvTable, RowsKnowTheLineTheyBeginOn) {
  Result<DataTable> table =
      parseCsvTable("\xEF\xBB\xBF"
                    "a,b\r\n\r\n1,\"two\r\nlines\"\r\n3,4",
                    "t.csv");
  ASSERT_TRUE(table) << table.error().str();
  ASSERT_EQ(table->rows().size(), 2u);
  EXPECT_EQ(table->rows()[0].line, 3u);
  EXPECT_EQ(table->rows()[0].cells[1], "two\r\nlines");
  EXPECT_EQ(table->where(table->rows()[1]), "t.csv:5");
}

TEST(CsvTable, SeparatorIsThatOfTheHead) {
  EXPECT_EQ(parseCsvTable("a;b\n1,5;2\n", "t.csv")->rows()[0].cells,
            (Cells{"1,5", "2"}));
  EXPECT_EQ(parseCsvTable("a\tb\n1\t2\n", "t.csv")->rows()[0].cells,
            (Cells{"1", "2"}));
  // An empty cell between tabs is a cell.
  EXPECT_EQ(parseCsvTable("a\tb\tc\n1\t\t3\n", "t.csv")->rows()[0].cells,
            (Cells{"1", "", "3"}));
}

TEST(CsvTable, ColumnWithoutNameIsNumbered) {
  Result<DataTable> table = parseCsvTable(",a\n0,1\n", "t.csv");
  ASSERT_TRUE(table);
  EXPECT_EQ(table->columns(), (Cells{"column 1", "a"}));
}

TEST(CsvTable, StructuralErrorsAreLocated) {
  EXPECT_EQ(csvError(""), "t.csv: the table has no head and no rows");
  EXPECT_EQ(csvError(" \n\n"), "t.csv: the table has no head and no rows");
  EXPECT_EQ(csvError("1,2\n3,4\n"),
            "t.csv:1: the table has no head: its first row is all numbers");
  EXPECT_EQ(csvError("a,b\n1,2\n3\n"),
            "t.csv:3: the row has 1 cell, the head has 2 columns");
  EXPECT_EQ(csvError("a,b\n1,2,3\n"),
            "t.csv:2: the row has 3 cells, the head has 2 columns");
  EXPECT_EQ(csvError("a,b,a\n"), "t.csv:1: two columns are called \"a\"");
  EXPECT_EQ(csvError("a,b\n1,\"x\n3,4\n"),
            "t.csv:2: a cell of the row that begins here opens a quote that "
            "nothing closes");
  EXPECT_EQ(csvError("a,b\n1,x\"y\n").substr(0, 52),
            "t.csv:2: a quote in line 2 neither begins nor ends a");
}

TEST(CsvTable, WhatIsNoTextIsRefused) {
  EXPECT_EQ(csvError("a,b\n1,\xff\n").substr(0, 40),
            "t.csv:2: line 2 is not text in UTF-8\n  n");
  EXPECT_EQ(csvError(std::string("a,b\n1,\0\n", 8)).substr(0, 36),
            "t.csv:2: line 2 is not text in UTF-8");
}

TEST(CsvTable, SizesAreLimited) {
  EXPECT_EQ(csvError(std::string(limits::maxTableColumns, ',') + "\n"),
            "t.csv:1: more than 1,000 columns");
  EXPECT_EQ(csvError(std::string(5'000'000, ',')),
            "t.csv:1: more than 1,000 columns");
  std::string longCell(limits::maxCellBytes + 1, 'x');
  EXPECT_EQ(csvError("a,b\n1," + longCell + "\n"),
            "t.csv:2: the cell of \"b\" has 65,537 bytes, more than 65,536");
  std::string cells = "a" + std::string(999, ',') + "\n";
  std::string text = cells;
  for (size_t i = 0; i <= limits::maxTableCells / 1000; ++i)
    text += cells;
  EXPECT_EQ(csvError(text).substr(0, 53),
            "t.csv:16002: the table has more than 16,000,000 cells");
}

TEST(CsvTable, EveryPrefixAndEveryByteIsRead) {
  const std::string text = "a,b\r\n\"x\ny\",2\r\n3,\" \"\"4\"\n";
  for (size_t size = 0; size <= text.size(); ++size)
    (void)csvError(text.substr(0, size));
  for (size_t at = 0; at < text.size(); ++at)
    for (int byte = 0; byte < 256; ++byte) {
      std::string changed = text;
      changed[at] = char(byte);
      (void)csvError(changed);
    }
}

TEST(JsonTable, CellsOfAllKinds) {
  Result<DataTable> table = parseJsonTable(
      R"([{"a": 1, "b": "x"}, {"b": null, "c": [1, {"d": 2.5}], "e": true}])",
      "t.json");
  ASSERT_TRUE(table) << table.error().str();
  EXPECT_EQ(table->columns(), (Cells{"a", "b", "c", "e"}));
  EXPECT_EQ(table->rows()[0].cells, (Cells{"1", "x", "", ""}));
  EXPECT_EQ(table->rows()[1].cells, (Cells{"", "", "[1,{\"d\":2.5}]", "true"}));
  EXPECT_EQ(table->where(table->rows()[1]), "t.json: /1");
}

TEST(JsonTable, Errors) {
  EXPECT_EQ(jsonError("{}"),
            "t.json: expected an array of objects: a row each");
  EXPECT_EQ(jsonError("[]"), "t.json: the table has no head and no rows");
  EXPECT_EQ(jsonError("[{}, 1]"),
            "t.json: /1: expected an object: a row by its columns");
  std::string wide = "[{";
  for (int i = 0; i <= 1000; ++i)
    wide += (i ? ",\"" : "\"") + std::to_string(i) + "\":0";
  EXPECT_EQ(jsonError(wide + "}]"), "t.json: /0: more than 1,000 columns");
  EXPECT_NE(jsonError(std::string(100'000, '[')).find("nested deeper"),
            std::string::npos);
}

TEST(ReadTable, NamesWhatIsNotThere) {
  EXPECT_EQ(errorOf(readTable("/nowhere/t.csv")),
            "/nowhere/t.csv: cannot open: No such file or directory");
}

TEST(ReadTable, LinesOfJson) {
  Result<DataTable> table =
      parseTable("{\"a\": 1}\n\n{\"a\": 2, \"b\": [3]}\n", "t.jsonl");
  ASSERT_TRUE(table) << table.error().str();
  ASSERT_EQ(table->rows().size(), 2u);
  EXPECT_EQ(table->cell(table->rows()[1], "b"), "[3]");
  EXPECT_EQ(
      errorOf(parseTable("{\"a\": 1}\n{\"a\"\n", "t.jsonl")).substr(0, 10),
      "t.jsonl:2:");
}

} // namespace
