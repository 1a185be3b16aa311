//===- FormatTest.cpp -----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Model/Format.h"

#include "autopar/Support/File.h"

#include "gtest/gtest.h"

#include <cstdlib>
#include <unistd.h>

using namespace autopar;
using namespace autopar::model;
using namespace autopar::program;

namespace {

struct FormatTest : testing::Test {
  void SetUp() override { setenv("AUTOPAR_DATA", AUTOPAR_SOURCE_DIR, 1); }

  static std::string errorOf(const std::string &tensors,
                             const std::map<std::string, int64_t> &given = {}) {
    std::string path = testing::TempDir() + "/format-test-" +
                       std::to_string(getpid()) + ".json";
    std::string text =
        R"({"schema": "autopar.format/1", "name": "x", "title": "x",
            "source": "x", "parameters": {"group": 64}, "tensors": )" +
        tensors + "}";
    EXPECT_TRUE(writeFile(path, text));
    Result<Format> format = loadFormat(path, given);
    return format ? "" : format.error().str();
  }
};

/// Bytes of the tensors that stand for an `o` x `i` matrix.
int64_t bytesOf(const Format &format, int64_t o, int64_t i) {
  Checked bytes;
  for (const FormatTensor &tensor : format.tensors) {
    Checked elements = tensor.plain ? Checked(o) * i : 1;
    for (const StoredDim &dim : tensor.shape) {
      Checked bases[] = {1, o, i, Checked(o) * i};
      elements *= dim.of(bases[static_cast<unsigned>(dim.base)]);
    }
    bytes += ceilDiv(elements * bitsOf(tensor.type), 8);
  }
  return bytes.int64().value_or(-1);
}

} // namespace

TEST_F(FormatTest, EveryFormatLoads) {
  EXPECT_EQ(formatNames().size(), 57u);
  for (const std::string &name : formatNames()) {
    Result<Format> format = loadFormat(name, {});
    ASSERT_TRUE(format) << format.error().str();
    EXPECT_EQ(format->name, name);
  }
}

TEST_F(FormatTest, BytesByHand) {
  struct {
    const char *name;
    int64_t bytes;
  } rows[] = {
      // 576 * 7168 and 5 * 56 scales.
      {"fp8-block", 4128768 + 280 * 4},
      {"fp8-tensor", 4128768 + 4 + 4},
      {"fp8-channel", 4128768 + 576 * 2},
      // 896 * 576, 56 * 72, 56 * 576, 7168.
      {"gptq-int4", 896 * 576 * 4 + 56 * 72 * 4 + 56 * 576 * 2 + 7168 * 4},
      {"awq-int4", 7168 * 72 * 4 + 56 * 72 * 4 + 56 * 576 * 2},
      {"bnb-int8", 4128768 + 576 * 4 + 1},
      // 64512 blocks, 252 blocks of blocks.
      {"bnb-nf4", 2064384 + 64512 + 252 * 4 + 256 * 4 + 16 * 4 + 98},
      {"ct-int4", 576 * 896 * 4 + 576 * 56 * 2 + 16},
      {"nvfp4", 2064384 + 576 * 448 + 4 + 4},
      {"mxfp4", 7168 * 18 * 16 + 7168 * 18},
  };
  for (const auto &row : rows) {
    Result<Format> format = loadFormat(row.name, {});
    ASSERT_TRUE(format) << format.error().str();
    EXPECT_EQ(bytesOf(*format, 576, 7168), row.bytes) << row.name;
  }
}

TEST_F(FormatTest, ParametersReplaceDefaults) {
  Result<Format> whole = loadFormat("gptq-int4", {{"bits", 8}, {"group", -1}});
  ASSERT_TRUE(whole) << whole.error().str();
  // 8 bits: 4 in an I32; one group of all inputs.
  EXPECT_EQ(bytesOf(*whole, 64, 1000),
            250 * 64 * 4 + 1 * 16 * 4 + 1 * 64 * 2 + 1000 * 4);
  Result<Format> biased = loadFormat("gptq-int4", {{"zero_bias", 1}});
  ASSERT_TRUE(biased) << biased.error().str();
  EXPECT_EQ(biased->tensors.back().suffix, "bias");
  Result<Format> simple = loadFormat("bnb-nf4", {{"nested", 0}});
  ASSERT_TRUE(simple) << simple.error().str();
  EXPECT_EQ(simple->tensors[1].type, ElementType::f32);
}

TEST_F(FormatTest, RefusesWhatIsWrong) {
  auto has = [](const std::string &text, const char *part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  const char *good = R"([{"suffix": "weight", "type": "I8"}])";
  EXPECT_EQ(errorOf(good), "");
  has(errorOf("[]"), "expected at least one tensor");
  has(errorOf(good, {{"bits", 4}}), "no parameter \"bits\"");
  has(errorOf(good, {{"group", -2}}), "expected -1 to");
  has(errorOf(R"([{"suffix": "", "type": "I8"}])"), "part of a name");
  has(errorOf(R"([{"suffix": "w", "type": "I9"}])"), "type of safetensors");
  has(errorOf(R"([{"suffix": "w", "type": "I8"},
                  {"suffix": "w", "type": "I8"}])"),
      "that of another tensor");
  for (const char *shape : {"\"rows\"", "\"i/0\"", "\"i//2\"", "\"\"", "0",
                            "\"4/2\"", "\"i*99999999999999\"", "\"o*i\""})
    EXPECT_NE(errorOf(R"([{"suffix": "w", "type": "I8", "shape": [)" +
                      std::string(shape) + "]}]"),
              "")
        << shape;
  has(errorOf(R"([{"suffix": "w", "type": "I8", "when": "x"}])"),
      "expected a parameter");
}

/// llama.cpp stores rows that are no whole blocks of 256 in blocks of 32, and
/// rows that are no whole blocks of 32 in 16 bits.
TEST_F(FormatTest, FallsBackToBlocksThatFit) {
  Result<Format> format = loadFormat("gguf-q4-k", {});
  ASSERT_TRUE(bool(format));
  EXPECT_EQ(format->forRows(4096).name, "gguf-q4-k");
  EXPECT_EQ(format->forRows(2880).name, "gguf-q5-0");
  EXPECT_EQ(format->forRows(100).name, "gguf-f16");
}
