//===- ShapeTableTest.cpp -------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fixtures.h"

using namespace autopar;
using namespace autopar::hardware;
using namespace autopar::test;

namespace {

/// A chip file whose products in bf16 have a table.
class ShapeTableTest : public LibraryTest {
protected:
  std::string withTable(const std::string &table) {
    std::string path = edited("hardware/chips/v100-32gb-sxm.json",
                              "\"matmul\": {\n      \"fp16\": {",
                              "\"matmul\": {\n      \"fp16\": {\n        "
                              "\"shapes\": " +
                                  table + ",");
    return withoutFolder(HardwareLibrary().chip(path));
  }
  static std::string table(const std::string &rows,
                           const std::string &percent) {
    return "{\"coordinates\": [{\"of\": \"rows\", \"at\": [" + rows +
           "]}, {\"of\": \"columns\", \"at\": [512, 2048]}, {\"of\": "
           "\"contraction\", \"at\": [1024]}], \"percent\": [\"" +
           percent +
           "\"], \"fit\": {\"median_error\": 0.02, \"p90_error\": 0.1, "
           "\"rows\": "
           "9}}";
  }
};

} // namespace

/// By hand: rows 4 lie halfway between 1 and 16, columns 1024 halfway between
/// 512 and 2048, both in logarithms.
TEST(ShapeTable, IsReducedToWhatSymbolsChange) {
  ShapeTable table;
  table.coordinates = {
      {"rows", {1, 16, 32}}, {"columns", {512, 2048}}, {"contraction", {1024}}};
  table.ratios = {1, 2, 3, 4, 10, 20};
  ShapeGrid grid = reduce(table, {1024, 7});
  EXPECT_EQ(grid.x.first, 0);
  EXPECT_EQ(grid.x.last, 5);
  EXPECT_EQ(grid.y.size(), 1u);
  EXPECT_EQ(grid.ratios, (std::vector<double>{1.5, 2, 2.5, 3, 3.5, 15}));
  // Outside it is constant.
  EXPECT_EQ(reduce(table, {100, 7}).ratios.front(), 1);
  EXPECT_EQ(reduce(table, {1e6, 7}).ratios.back(), 20);
}

TEST(ShapeTable, OfAttentionHasTwoSides) {
  ShapeTable table;
  table.coordinates = {{"streams", {1, 4}},
                       {"context", {256, 512}},
                       {"group", {8}},
                       {"head_size", {128}}};
  table.ratios = {1, 2, 3, 4};
  ShapeGrid grid = reduce(table, {8, 128});
  EXPECT_EQ(grid.x.last, 2);
  EXPECT_EQ(grid.y.first, 8);
  EXPECT_EQ(grid.y.last, 9);
  EXPECT_EQ(grid.ratios, (std::vector<double>{1, 2, 2, 3, 3, 4}));
}

TEST_F(ShapeTableTest, IsRead) {
  EXPECT_EQ(withTable(table("1, 8", "100 120 90 80")), "");
}

TEST_F(ShapeTableTest, ErrorsNameTheField) {
  const std::string at = "v100-32gb-sxm.json: /kernels/matmul/fp16/shapes";
  EXPECT_EQ(withTable(table("1, 8", "100 120 90")),
            at + "/percent: expected 4 ratios, one for each combination of "
                 "sizes and at most 100000, found 3");
  EXPECT_EQ(withTable(table("1, 9", "100 120 90 80")),
            at + "/coordinates/0/at/1: expected a power of two, found 9");
  EXPECT_EQ(withTable(table("8, 1", "100 120 90 80")),
            at + "/coordinates/0/at/1: expected sizes that rise, found 1 after "
                 "8");
  EXPECT_EQ(withTable(table("1, 8", "100 120 90 0")),
            at + "/percent: expected lines of integers from 1 to 100000 "
                 "between spaces, found 0");
  EXPECT_EQ(withTable(table("1, 8", "100 120 90 1.5")),
            at + "/percent: expected lines of integers from 1 to 100000 "
                 "between spaces, found 1.5");
  EXPECT_EQ(withTable(table("1, 8", "100  120")),
            at + "/percent: expected lines of integers from 1 to 100000 "
                 "between spaces, found ");
  EXPECT_EQ(withTable("{\"coordinates\": [], \"percent\": []}"),
            at + "/coordinates: expected 3 coordinates, found 0\n  note: those "
                 "of matmul: rows, columns, contraction");
  EXPECT_EQ(withTable("{\"coordinates\": [{\"of\": \"m\", \"at\": [1]}, {}, "
                      "{}], \"percent\": []}"),
            at + "/coordinates/0/of: expected \"rows\", found \"m\"");
}

TEST_F(ShapeTableTest, OfAnotherKernelIsRefused) {
  std::string path = edited("hardware/chips/v100-32gb-sxm.json",
                            "\"matmul\": {\n      \"fp16\": {",
                            "\"matmul\": {\n      \"fp16\": {\n        "
                            "\"decode_shapes\": {},");
  EXPECT_EQ(withoutFolder(HardwareLibrary().chip(path)),
            "v100-32gb-sxm.json: /kernels/matmul/fp16/decode_shapes: kernels "
            "of kind matmul have no such table");
}
