//===- LoadsTest.cpp ------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Placement/LoadSource.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <numeric>

using namespace autopar;
using namespace autopar::placement;

static Result<LoadProfile> readJson(std::string_view text,
                                    const LoadShape &shape = {}) {
  Result<JsonDocument> document = JsonDocument::parse(text, "a.json");
  return document ? readLoadJson(*document, shape) : document.error();
}

static std::string jsonError(std::string_view text,
                             const LoadShape &shape = {}) {
  Result<LoadProfile> profile = readJson(text, shape);
  return profile ? "read" : profile.error().str();
}

static std::string csvError(std::string_view text,
                            const LoadShape &shape = {}) {
  Result<LoadProfile> profile = readLoadCsv(text, "a.csv", shape);
  return profile ? "read" : profile.error().str();
}

TEST(Loads, ReadsBothFormsOfJson) {
  Result<LoadProfile> named = readJson(
      R"({"schema": "autopar.load/1", "layers": {"10": [1, 2.5], "3": [0, 4]}})");
  ASSERT_TRUE(named) << named.error().str();
  EXPECT_EQ(named->experts, 2);
  ASSERT_EQ(named->layers.size(), 2u);
  EXPECT_EQ(named->layers[0].layer, 3);
  EXPECT_EQ(named->layers[1].tokens, (std::vector<double>{1, 2.5}));
  Result<LoadProfile> rows = readJson("[[1, 2], [3, 4]]");
  ASSERT_TRUE(rows);
  EXPECT_EQ(rows->layers[1].layer, 1);
  // Rows are the layers that have experts.
  rows = readJson(R"({"schema": "autopar.load/1", "layers": [[1, 2], [3, 4]]})",
                  {2, {3, 5}});
  ASSERT_TRUE(rows);
  EXPECT_EQ(rows->layers[1].layer, 5);
  Result<LoadProfile> again = readJson(writeLoads(*rows));
  ASSERT_TRUE(again);
  EXPECT_EQ(writeLoads(*again), writeLoads(*rows));
}

TEST(Loads, LocatesErrorsOfJson) {
  LoadShape shape = {2, {3, 4}};
  EXPECT_EQ(jsonError("[[1, -2]]"), "a.json: /0/1: expected a number from 0 to "
                                    "1099511627776, found -2");
  EXPECT_EQ(jsonError("[[1, 2], [1]]"),
            "a.json: /1: expected 2 experts, found 1\n"
            "  note: every layer has as many as the first");
  EXPECT_EQ(jsonError("[[1, 2, 3], [1, 2, 3]]", shape),
            "a.json: /0: expected 2 experts, found 3");
  EXPECT_EQ(jsonError("[[1, 2]]", shape),
            "a.json: expected 2 rows, found 1\n"
            "  note: 2 layers from 3 to 4 have experts");
  std::string head = R"({"schema": "autopar.load/1", "layers": )";
  EXPECT_EQ(jsonError(head + R"({"3": [1, 2]}})", shape),
            "a.json: /layers: layer 4 is missing\n"
            "  note: 2 layers from 3 to 4 have experts");
  EXPECT_EQ(jsonError(head + R"({"3": [1, 2], "7": [1, 2]}})", shape),
            "a.json: /layers/7: layer 7 has no experts\n"
            "  note: 2 layers from 3 to 4 have experts");
  EXPECT_EQ(jsonError(head + R"({"03": [1, 2]}})"),
            "a.json: /layers/03: expected the number of a layer, found \"03\"");
  EXPECT_EQ(jsonError(head + "{}}"), "a.json: /layers: there is no layer");
  EXPECT_EQ(jsonError(head + "3}"),
            "a.json: /layers: expected an object or an array of layers");
  EXPECT_EQ(jsonError("[]"), "a.json: there is no layer");
  EXPECT_EQ(jsonError("[[]]"),
            "a.json: /0: expected 1 to 16384 experts, found 0");
  EXPECT_EQ(jsonError("[3]"),
            "a.json: /0: expected an array of tokens by expert");
  EXPECT_EQ(jsonError("[[1, 1e300]]").substr(0, 30),
            "a.json: /0/1: expected a numbe");
  EXPECT_EQ(jsonError("[[1, NaN]]"), "a.json:1:6: syntax error near '1, N'");
  EXPECT_EQ(jsonError(R"({"schema": "autopar.load/2", "layers": []})"),
            "a.json: /schema: expected \"autopar.load/1\", found "
            "\"autopar.load/2\"");
}

TEST(Loads, ReadsNanAsPythonWritesIt) {
  std::string path = testing::TempDir() + "/loads.json";
  std::ofstream(path) << "[[1, NaN]]";
  Result<LoadProfile> profile = readLoadFile(path, {});
  ASSERT_FALSE(profile);
  EXPECT_EQ(profile.error().str(), path + ": /0/1: expected a number from 0 to "
                                          "1099511627776, found \"NaN\"");
}

TEST(Loads, ReadsCsv) {
  Result<LoadProfile> profile = readLoadCsv(
      "layer,expert,tokens\r\n 4 , 1 , 2.5\r\n\n3,0,7\n3,1,0\n4,0,0", "a.csv",
      {2, {}});
  ASSERT_TRUE(profile) << profile.error().str();
  ASSERT_EQ(profile->layers.size(), 2u);
  EXPECT_EQ(profile->layers[0].tokens, (std::vector<double>{7, 0}));
  EXPECT_EQ(profile->layers[1].tokens, (std::vector<double>{0, 2.5}));
}

TEST(Loads, CsvMayHaveAByteOrderMark) {
  std::string mark = "\xEF\xBB\xBF";
  EXPECT_EQ(csvError(mark + "layer,expert,tokens\r\n3,0,7\r\n"), "read");
  EXPECT_EQ(csvError(mark + "3,0,1\n"),
            "a.csv:1:1: expected the line layer,expert,tokens, found 3,0,1");
  EXPECT_EQ(csvError(mark), csvError(""));
}

TEST(Loads, LocatesErrorsOfCsv) {
  std::string head = "layer,expert,tokens\n";
  LoadShape shape = {2, {3, 4}};
  EXPECT_EQ(csvError(""), "a.csv: is empty\n"
                          "  note: expected the line layer,expert,tokens");
  EXPECT_EQ(csvError("3,0,1\n"),
            "a.csv:1:1: expected the line layer,expert,tokens, found 3,0,1");
  EXPECT_EQ(csvError(head + "3,0,-1"),
            "a.csv:2:5: expected a number from 0 to 1099511627776, found "
            "'-1'");
  EXPECT_EQ(csvError(head + "3,0,nan").substr(0, 10), "a.csv:2:5:");
  EXPECT_EQ(csvError(head + "3,0,inf").substr(0, 10), "a.csv:2:5:");
  EXPECT_EQ(csvError(head + "3,0,1x").substr(0, 10), "a.csv:2:5:");
  EXPECT_EQ(csvError(head + "3,0"), "a.csv:2:1: expected 3 fields, found 2\n"
                                    "  note: lines are layer,expert,tokens");
  EXPECT_EQ(csvError(head + "3,0,1\n\n3,2,1", shape),
            "a.csv:4:3: expected an integer from 0 to 1, found '2'");
  EXPECT_EQ(csvError(head + "5,0,1", shape),
            "a.csv:2:1: layer 5 has no experts\n"
            "  note: 2 layers from 3 to 4 have experts");
  EXPECT_EQ(csvError(head + "3,0,1", shape),
            "a.csv: layer 4 is missing\n"
            "  note: 2 layers from 3 to 4 have experts");
  EXPECT_EQ(csvError(head + "3,0,1\n3,0,2"),
            "a.csv:3:3: a second line for expert 0 of layer 3");
  EXPECT_EQ(csvError(head), "a.csv: there is no layer");
}

/// A file that was cut is not taken for one of experts without work.
TEST(Loads, CsvHasALineForEveryExpert) {
  std::string head = "layer,expert,tokens\n";
  std::string note = "\n  note: every expert of every layer has a line: tokens "
                     "are 0 where it worked on none";
  EXPECT_EQ(csvError(head + "3,0,1\n3,1,2\n4,0,1", {2, {3, 4}}),
            "a.csv: layer 4 has no line for expert 1" + note);
  EXPECT_EQ(csvError(head + "3,1,2\n4,0,1\n4,1,1"),
            "a.csv: layer 3 has no line for expert 0" + note);
  EXPECT_EQ(csvError(head + "3,0,2", {3, {}}),
            "a.csv: layer 3 has no line for expert 1" + note);
  EXPECT_EQ(csvError(head + "3,0,1\n3,1,2\n4,0,1\n4,1,0", {2, {3, 4}}), "read");
  // Layers and experts as large as may be.
  std::string wide = head;
  for (int layer = 0; layer < 700; ++layer)
    wide += std::to_string(layer) + ",16383,1\n";
  EXPECT_EQ(csvError(wide), "a.csv: layer 0 has no line for expert 0" + note);
}

static std::string traceError(const std::string &text,
                              const LoadShape &shape = {}) {
  Result<RoutingTrace> trace = readTraceJsonLines(text, "t.jsonl", shape);
  return trace ? "read" : trace.error().str();
}

TEST(Trace, ReadsBothFormats) {
  Result<RoutingTrace> lines =
      readTraceJsonLines("{\"layer\": 3, \"experts\": [2, 0]}\n\n"
                         "{\"layer\": 3, \"experts\": [0, 2], \"tokens\": 4}\n"
                         "{\"layer\": 1, \"experts\": [1]}",
                         "t.jsonl", {});
  ASSERT_TRUE(lines) << lines.error().str();
  EXPECT_EQ(lines->experts, 3);
  ASSERT_TRUE(lines->find(3));
  EXPECT_FALSE(lines->find(2));
  ASSERT_EQ(lines->find(3)->routed.size(), 1u);
  EXPECT_EQ(lines->find(3)->routed[0].tokens, 5);
  EXPECT_EQ(loadsOf(*lines).layers[1].tokens, (std::vector<double>{5, 0, 5}));
  Result<RoutingTrace> csv = readTraceCsv(
      "layer,experts,tokens\n3,2 0,1\n3,0  2,4\n1,1,1\n", "t.csv", {});
  ASSERT_TRUE(csv) << csv.error().str();
  EXPECT_EQ(writeTrace(*csv), writeTrace(*lines));
  Result<RoutingTrace> again =
      readTraceJsonLines(writeTrace(*lines), "t.jsonl", {});
  ASSERT_TRUE(again);
  EXPECT_EQ(writeTrace(*again), writeTrace(*lines));
}

TEST(Trace, LocatesErrors) {
  std::string good = "{\"layer\": 3, \"experts\": [0, 1]}\n";
  LoadShape shape = {2, {3}};
  EXPECT_EQ(traceError(good, shape), "read");
  EXPECT_EQ(traceError(good + "{\"layer\": 3, \"experts\": [0, 2]}", shape),
            "t.jsonl:2: /experts/1: expected an integer from 0 to 1, found 2");
  EXPECT_EQ(traceError(good + "{\"layer\": 3, \"experts\": [0,, 2]}"),
            "t.jsonl:2:28: syntax error near '0,,'");
  EXPECT_EQ(traceError("{\"layer\": 3, \"experts\": [1, 1]}"),
            "t.jsonl:1: expert 1 is there twice");
  EXPECT_EQ(traceError("{\"layer\": 3, \"experts\": []}"),
            "t.jsonl:1: no expert fired");
  EXPECT_EQ(traceError("{\"layer\": 4, \"experts\": [1]}", shape),
            "t.jsonl:1: layer 4 has no experts\n"
            "  note: 1 layer from 3 to 3 have experts");
  EXPECT_EQ(traceError("{\"layer\": 3, \"experts\": [1], \"tokens\": -1}"),
            "t.jsonl:1: /tokens: expected a number from 0 to "
            "1099511627776, found -1");
  EXPECT_EQ(traceError("\n"), "t.jsonl: there is no layer");
  Result<RoutingTrace> csv =
      readTraceCsv("layer,experts,tokens\n3,0 x,1\n", "t.csv", {});
  ASSERT_FALSE(csv);
  EXPECT_EQ(csv.error().str(),
            "t.csv:2:5: expected an integer from 0 to 16383, found 'x'");
}

//===----------------------------------------------------------------------===//
// Synthetic loads
//===----------------------------------------------------------------------===//

/// First outputs of SplitMix64 from seed 1234567, as published with it.
TEST(Synthetic, RandomNumbersAreSplitMix64) {
  RandomNumbers random(1234567);
  for (uint64_t expected :
       {6457827717110365317u, 3203168211198807973u, 9817491932198370423u})
    EXPECT_EQ(random.next(), expected);
  for (int i = 0; i < 1000; ++i)
    EXPECT_LT(random.below(7), 7u);
}

static double giniOf(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  double weighted = 0, n = static_cast<double>(values.size());
  for (size_t i = 0; i < values.size(); ++i)
    weighted += (2 * (static_cast<double>(i) + 1) - n - 1) * values[i];
  return weighted / n / std::accumulate(values.begin(), values.end(), 0.0);
}

TEST(Synthetic, Shares) {
  std::vector<double> zipf = loadShares(LoadShapeKind::zipf, 1, 4);
  // 1, 1/2, 1/3, 1/4 of 25/12.
  EXPECT_NEAR(zipf[0], 12.0 / 25, 1e-15);
  EXPECT_NEAR(zipf[3], 3.0 / 25, 1e-15);
  for (double gini : {0.105, measuredGini, 0.38})
    EXPECT_NEAR(giniOf(loadShares(LoadShapeKind::log_normal, gini, 256)), gini,
                0.01);
}

TEST(Synthetic, DrawsAreTheSameEverywhere) {
  SyntheticLoad load = {LoadShapeKind::zipf, 1, 8, 2, 1000, 42};
  Result<LoadProfile> profile = makeLoads(load);
  ASSERT_TRUE(profile);
  EXPECT_EQ(profile->layers[0].tokens,
            (std::vector<double>{83, 96, 126, 353, 50, 48, 179, 65}));
  for (const LayerLoads &layer : profile->layers)
    EXPECT_EQ(std::accumulate(layer.tokens.begin(), layer.tokens.end(), 0.0),
              1000);
}

TEST(Synthetic, RefusesWhatIsTooLarge) {
  auto errorOf = [](SyntheticLoad load) {
    Result<LoadProfile> profile = makeLoads(load);
    return profile ? "made" : profile.error().str();
  };
  EXPECT_EQ(errorOf({LoadShapeKind::zipf, 1, 0, 1, 0, 0}),
            "experts: expected 1 to 16384, found 0");
  EXPECT_EQ(errorOf({LoadShapeKind::zipf, 1, 10000, 2000, 0, 0}),
            "layers: expected 1 to 1000, found 2000");
  EXPECT_EQ(errorOf({LoadShapeKind::zipf, 1, 8, 10, 1'000'000'000, 0}),
            "tokens: expected 0 to 10000000, found 1e+09");
  EXPECT_EQ(errorOf({LoadShapeKind::log_normal, 1, 8, 1, 0, 0}),
            "skew: expected 0 to 0.99, found 1");
  EXPECT_EQ(errorOf({LoadShapeKind::zipf, NAN, 8, 1, 0, 0}).substr(0, 21),
            "skew: expected 0 to 4");
}

TEST(LoadSource, WordsAreLoads) {
  Result<LoadProfile> zipf = readLoads("zipf:1.0,seed=3", {4, {3, 7}});
  ASSERT_TRUE(zipf) << zipf.error().str();
  ASSERT_EQ(zipf->layers.size(), 2u);
  EXPECT_EQ(zipf->layers[0].layer, 3);
  EXPECT_EQ(zipf->layers[1].layer, 7);
  std::vector<double> sorted = zipf->layers[0].tokens;
  std::sort(sorted.rbegin(), sorted.rend());
  EXPECT_NEAR(sorted[0] / sorted[3], 4, 1e-9);
  Result<LoadProfile> drawn = readLoads("even,tokens=100", {4, {0}});
  ASSERT_TRUE(drawn);
  const std::vector<double> &tokens = drawn->layers[0].tokens;
  EXPECT_EQ(std::accumulate(tokens.begin(), tokens.end(), 0.0), 100);
  Result<std::optional<SyntheticLoad>> plain = parseSyntheticLoad("log_normal");
  ASSERT_TRUE(plain && *plain);
  EXPECT_EQ((*plain)->skew, measuredGini);
}

TEST(LoadSource, OtherTextIsAFile) {
  for (const char *text : {"", "loads.json", "./even", "evening", "zipf.csv"}) {
    Result<std::optional<SyntheticLoad>> word = parseSyntheticLoad(text);
    EXPECT_TRUE(word && !*word) << text;
  }
  EXPECT_FALSE(readLoads("no/such/file.json", {4, {0}}));
}

TEST(LoadSource, RefusesBadWords) {
  for (const char *text : {"zipf:", "zipf:x", "zipf:1:2", "even:1",
                           "zipf,tokens=-1", "zipf,tokens=x", "zipf,seed=-1",
                           "zipf,heads=3", "zipf,tokens=1,,seed=2"})
    EXPECT_FALSE(readLoads(text, {4, {0}})) << text;
  for (const char *text : {"zipf:5", "zipf:nan", "zipf:-1", "log_normal:1",
                           "zipf,tokens=99999999999"})
    EXPECT_FALSE(readLoads(text, {4, {0}})) << text;
  // Words do not say how many.
  EXPECT_FALSE(readLoads("even", {}));
}
