//===- JsonTest.cpp -------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Support/Json.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

using namespace autopar;

static Error refused(std::string_view text) {
  Result<JsonDocument> document = JsonDocument::parse(text, "a.json");
  EXPECT_FALSE(document) << text.substr(0, 40);
  return document ? Error() : document.error();
}

static JsonDocument parse(std::string_view text) {
  Result<JsonDocument> document = JsonDocument::parse(text, "a.json");
  EXPECT_TRUE(document) << document.error().str();
  return std::move(*document);
}

static std::string nested(int depth) {
  return std::string(depth, '[') + std::string(depth, ']');
}

TEST(Json, LocatesSyntaxErrors) {
  EXPECT_EQ(refused("{\n  \"a\": 1,\n  \"b\" 2\n}").where, "a.json:3:7");
  EXPECT_EQ(refused("[1, 2,]").where, "a.json:1:7");
  for (const char *text : {"", "{", "[1", "\"open", "{\"a\":}", "nul", "01",
                           "1 2", "{'a': 1}", "[1,,2]", "\"\\x\"", "\x01"})
    EXPECT_EQ(refused(text).where.rfind("a.json:", 0), 0u) << text;
}

TEST(Json, RefusesDuplicateKeys) {
  EXPECT_EQ(refused(R"({"a": 1, "b": {"c": 1, "c": 2}})").message,
            "duplicate key \"c\"");
  parse(R"({"a": {"c": 1}, "b": {"c": 1}})");
}

TEST(Json, LimitsDepth) {
  parse(nested(256));
  EXPECT_EQ(refused(nested(257)).message, "nested deeper than 256 levels");
  EXPECT_EQ(refused(std::string(200'000, '[')).message,
            "nested deeper than 256 levels");
}

TEST(Json, RefusesNumbersThatDoNotFit) {
  refused("[1e400]");
  JsonDocument document =
      parse(R"({"a": 9223372036854775808, "b": -9223372036854775809,
                "c": 1e18, "d": 1.5, "e": 1e9, "f": 9223372036854775807})");
  for (const char *key : {"a", "b", "c", "d"}) {
    JsonReader reader = document.reader();
    reader.integer(key, INT64_MIN, INT64_MAX);
    EXPECT_TRUE(reader.failed()) << key;
  }
  JsonReader reader = document.reader();
  EXPECT_EQ(reader.integer("e", 0, INT64_MAX), 1'000'000'000);
  EXPECT_EQ(reader.integer("f", 0, INT64_MAX), INT64_MAX);
  EXPECT_FALSE(reader.failed());
}

TEST(Json, ReadsAnyTextAsNlohmannDoes) {
  // Plain text goes one way, and all other another.
  for (const char *text : {"0",
                           "-0",
                           "-12",
                           "0.784",
                           "1e-7",
                           "-1.5E+300",
                           "5e-324",
                           "1e400",
                           "9223372036854775807",
                           "9223372036854775808",
                           "-9223372036854775808",
                           "-9223372036854775809",
                           "18446744073709551616",
                           "01",
                           "1.",
                           ".5",
                           "-",
                           "+1",
                           "1e",
                           "true",
                           "truey",
                           "nul",
                           "\"a\\u20acb\"",
                           "\"\\n\"",
                           "\"\xe2\x82\xac\"",
                           "\"\xff\"",
                           "\"\t\"",
                           "[1 ,\t2]",
                           "[1,]",
                           "[1 2]",
                           "{\"a\":{}}",
                           "{\"a\":[]}",
                           "{\"a\" 1}",
                           "{1: 2}",
                           "{\"a\":1,}"}) {
    nlohmann::json expected = nlohmann::json::parse(text, nullptr, false);
    Result<JsonDocument> document = JsonDocument::parse(text, "a.json");
    EXPECT_EQ(bool(document), !expected.is_discarded()) << text;
    if (document)
      EXPECT_EQ(document->toJson().dump(), expected.dump()) << text;
  }
  EXPECT_EQ(refused(std::string_view("[1]\0[2]", 7)).where, "a.json:1:4");
}

TEST(Json, FindsMembersOfLargeObjects) {
  nlohmann::json large;
  for (int i = 0; i < 40; ++i)
    large["key " + std::to_string(i)] = {i};
  JsonDocument document = parse(large.dump());
  JsonReader reader = document.reader();
  for (int i = 0; i < 40; ++i)
    EXPECT_EQ(
        reader.array("key " + std::to_string(i)).elements()[0].asInteger(0, 40),
        i);
  EXPECT_FALSE(reader.has("key"));
  EXPECT_FALSE(reader.failed());
  EXPECT_EQ(reader.members()[2].first, "key 10");
  EXPECT_EQ(reader.members()[2].second.elements()[0].pointer(), "/key 10/0");
  std::string twice = large.dump();
  twice.insert(1, "\"key 7\": 1,");
  EXPECT_EQ(refused(twice).message, "duplicate key \"key 7\"");
}

TEST(Json, ReadsWhatItIsSetTo) {
  JsonDocument document = parse(R"({"a": 1})");
  nlohmann::json value = document.toJson();
  value["b"] = {"x", true, nullptr, 1.5, uint64_t(1) << 63, -2};
  document.set(value);
  EXPECT_EQ(document.toJson(), value);
  EXPECT_EQ(document.reader().array("b").elements()[0].asStringView(), "x");
}

TEST(Json, LocatesWrongTypesByPointer) {
  JsonDocument document =
      parse(R"({"chips": [{"name": 3, "a/b~c": "x", "n": null}]})");
  auto read = [&](auto &&use) {
    JsonReader root = document.reader();
    use(root.array("chips").elements()[0]);
    EXPECT_TRUE(root.failed());
    Error error = root.takeError();
    return error.where + ": " + error.message;
  };
  EXPECT_EQ(read([](const JsonReader &chip) { chip.string("name"); }),
            "a.json: /chips/0/name: expected a string, found 3");
  EXPECT_EQ(read([](const JsonReader &chip) { chip.integer("a/b~c", 1, 8); }),
            "a.json: /chips/0/a~1b~0c: expected an integer from 1 to 8, found "
            "\"x\"");
  EXPECT_EQ(read([](const JsonReader &chip) { chip.number("none", 0, 1); }),
            "a.json: /chips/0: missing field \"none\"");
  EXPECT_EQ(read([](const JsonReader &chip) { chip.string("n"); }),
            "a.json: /chips/0: field \"n\" is null");
  EXPECT_EQ(read([](const JsonReader &chip) { chip.object("name"); }),
            "a.json: /chips/0/name: expected an object, found 3");
  EXPECT_EQ(read([](const JsonReader &chip) { chip.boolean("name"); }),
            "a.json: /chips/0/name: expected true or false, found 3");
  EXPECT_EQ(read([](const JsonReader &chip) { chip.allowOnly({"name"}); }),
            "a.json: /chips/0/a~1b~0c: unknown field \"a/b~c\"");
}

TEST(Json, KeepsTheFirstError) {
  JsonDocument document = parse("{}");
  JsonReader reader = document.reader();
  reader.string("first");
  reader.object("second").array("third").elements();
  EXPECT_EQ(reader.takeError().message, "missing field \"first\"");
}

TEST(Json, ReadsOptionalFields) {
  JsonDocument document = parse(R"({"a": null, "b": 2, "c": false})");
  JsonReader reader = document.reader();
  EXPECT_FALSE(reader.optionalInteger("a", 0, 9));
  EXPECT_FALSE(reader.optionalString("none"));
  EXPECT_EQ(reader.optionalNumber("b", 0, 9), 2.0);
  EXPECT_FALSE(reader.booleanOr("c", true));
  EXPECT_TRUE(reader.booleanOr("none", true));
  EXPECT_FALSE(reader.failed());
}

TEST(Json, ReportsFilesThatCannotBeRead) {
  EXPECT_EQ(JsonDocument::readFile("/nonexistent.json").error().str(),
            "/nonexistent.json: cannot open: No such file or directory");
  EXPECT_FALSE(JsonDocument::readFile("/"));
}
