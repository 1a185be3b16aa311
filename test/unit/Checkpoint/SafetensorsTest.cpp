//===- SafetensorsTest.cpp ------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fixtures.h"

using namespace autopar;
using namespace autopar::checkpoint;
using namespace autopar::test;

TEST(Safetensors, ReadsTensors) {
  CheckpointIndex index = read(safetensors(
      R"({"__metadata__":{"format":"pt"},
          "b":{"dtype":"F32","shape":[2],"data_offsets":[12,20]},
          "a":{"dtype":"BF16","shape":[2,3],"data_offsets":[0,12]},
          "empty":{"dtype":"U64","shape":[0,7],"data_offsets":[12,12]},
          "scalar":{"dtype":"F8_E8M0","shape":[],"data_offsets":[20,21]}})"
      "   ",
      21));
  ASSERT_EQ(index.tensors.size(), 4u);
  EXPECT_EQ(index.tensors[0].name, "a");
  EXPECT_EQ(index.tensors[0].dtype, "BF16");
  EXPECT_EQ(index.tensors[0].type, ElementType::bf16);
  EXPECT_EQ(index.tensors[0].shape, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(index.tensors[0].bytes, 12);
  EXPECT_EQ(index.tensors[2].name, "empty");
  EXPECT_EQ(index.tensors[3].type, ElementType::fp8_e8m0);
  EXPECT_EQ(index.bytes(), Checked(21));
  EXPECT_EQ(index.metadataOr("format"), "pt");
  EXPECT_EQ(index.files, std::vector<std::string>{"a.bin"});
}

TEST(Safetensors, KnowsTheDtypesOfTheFormat) {
  const std::pair<const char *, int> bits[] = {
      {"BOOL", 8},        {"F4", 4},          {"F6_E2M3", 6}, {"F6_E3M2", 6},
      {"U8", 8},          {"I8", 8},          {"F8_E5M2", 8}, {"F8_E4M3", 8},
      {"F8_E8M0", 8},     {"F8_E4M3FNUZ", 8}, {"I16", 16},    {"U16", 16},
      {"F8_E5M2FNUZ", 8}, {"F16", 16},        {"BF16", 16},   {"I32", 32},
      {"U32", 32},        {"F32", 32},        {"C64", 64},    {"F64", 64},
      {"I64", 64},        {"U64", 64}};
  for (auto [dtype, size] : bits) {
    // Four elements are whole bytes of each.
    CheckpointIndex index =
        read(safetensors(std::string(R"({"a":{"dtype":")") + dtype +
                             R"(","shape":[4],"data_offsets":[0,)" +
                             std::to_string(size / 2) + "]}}",
                         size / 2));
    EXPECT_EQ(index.bytes(), Checked(size / 2)) << dtype;
  }
}

TEST(Safetensors, ReadsOnlyTheHeader) {
  std::string text =
      safetensors(R"({"a":{"dtype":"U8","shape":[1099511627776],)"
                  R"("data_offsets":[0,1099511627776]}})");
  MemorySource source("a", text, text.size() + (uint64_t(1) << 40));
  Result<CheckpointIndex> index = readCheckpoint(source);
  ASSERT_TRUE(index) << index.error().str();
  EXPECT_LT(source.taken, 200u);
}

/// A tensor with `entry` between the braces, and `data` bytes.
static std::string one(const std::string &entry, size_t data) {
  return refused(safetensors("{\"a\":{" + entry + "}}", data));
}

TEST(Safetensors, RefusesWrongLengths) {
  EXPECT_EQ(refused(""), "a.bin: is 0 bytes, too short for safetensors");
  EXPECT_EQ(refused("1234567"), "a.bin: is 7 bytes, too short for safetensors");
  EXPECT_EQ(refused(raw(uint64_t(100'000'001)) + "{}"),
            "a.bin: byte 0: the header's length is 100000001 bytes, above the "
            "format's limit of 100000000 bytes");
  EXPECT_EQ(refused(raw(UINT64_MAX) + "{}"),
            "a.bin: byte 0: the header's length is 18446744073709551615 "
            "bytes, above the format's limit of 100000000 bytes");
  EXPECT_EQ(refused(raw(uint64_t(3)) + "{}"),
            "a.bin: byte 0: the header's length is 3 bytes, but only 2 bytes "
            "follow");
  EXPECT_EQ(refused(raw(uint64_t(0))),
            "a.bin: byte 8: expected '{', the start of the header");
  EXPECT_EQ(refused(safetensors(" {}")),
            "a.bin: byte 8: expected '{', the start of the header");
}

TEST(Safetensors, RefusesBadJson) {
  EXPECT_EQ(refused(safetensors("{\"a\":}")),
            "a.bin (header):1:6: syntax error near '\"a\":}'");
  EXPECT_EQ(refused(safetensors("{\"a\xff\":{}}"))
                .rfind("a.bin (header):1:4: syntax error", 0),
            0u);
  EXPECT_EQ(refused(safetensors("{\"a\":{},\"a\":{}}")),
            "a.bin (header): duplicate key \"a\"");
  EXPECT_EQ(refused(safetensors("{\"a\":{\"shape\":[],\"shape\":[]}}")),
            "a.bin (header): duplicate key \"shape\"");
  EXPECT_EQ(refused(safetensors("{\"a\":" + std::string(100'000, '['))),
            "a.bin (header): nested deeper than 256 levels");
  EXPECT_EQ(refused(safetensors("{\"\":{}}")),
            "a.bin (header): a tensor has no name");
  EXPECT_EQ(refused(safetensors("{\"\\u001b[2J\":{}}")),
            "a.bin (header): the tensor name \"?[2J\" has a control "
            "character");
}

TEST(Safetensors, RefusesWrongTypes) {
  EXPECT_EQ(refused(safetensors("{\"a\":[]}")),
            "a.bin (header): /a: expected an object, found an array");
  EXPECT_EQ(one("", 0), "a.bin (header): /a: missing field \"dtype\"");
  EXPECT_EQ(one(R"("dtype":5)", 0),
            "a.bin (header): /a/dtype: expected a string, found 5");
  EXPECT_EQ(one(R"("dtype":"F32")", 0),
            "a.bin (header): /a: missing field \"shape\"");
  EXPECT_EQ(one(R"("dtype":"F32","shape":4)", 0),
            "a.bin (header): /a/shape: expected an array, found 4");
  EXPECT_EQ(one(R"("dtype":"F32","shape":[-1],"data_offsets":[0,4])", 4),
            "a.bin (header): /a/shape/0: expected an integer from 0 to "
            "9223372036854775807, found -1");
  EXPECT_EQ(one(R"("dtype":"F32","shape":["1"],"data_offsets":[0,4])", 4),
            "a.bin (header): /a/shape/0: expected an integer from 0 to "
            "9223372036854775807, found \"1\"");
  EXPECT_EQ(one(R"("dtype":"F32","shape":[1])", 4),
            "a.bin (header): /a: missing field \"data_offsets\"");
  EXPECT_EQ(one(R"("dtype":"F31","shape":[1],"data_offsets":[0,4])", 4),
            "a.bin (header): /a/dtype: unknown dtype \"F31\"");
  EXPECT_EQ(refused(safetensors("{\"__metadata__\":[]}")),
            "a.bin (header): /__metadata__: expected an object of strings");
  EXPECT_EQ(refused(safetensors("{\"__metadata__\":{\"a\":1}}")),
            "a.bin (header): /__metadata__/a: expected a string, found 1");
}

TEST(Safetensors, RefusesWrongSizes) {
  EXPECT_EQ(
      one(R"("dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,0])",
          0),
      "a.bin (header): /a/shape: shape [4294967296, 4294967296] of F32 is "
      "more than 2^63 bytes");
  EXPECT_EQ(
      one(R"("dtype":"F64","shape":[1152921504606846976],"data_offsets":[0,0])",
          0),
      "a.bin (header): /a/shape: shape [1152921504606846976] of F64 is more "
      "than 2^63 bytes");
  std::string many = "9223372036854775807";
  for (int i = 0; i < 9; ++i)
    many += ",9223372036854775807";
  EXPECT_NE(
      one("\"dtype\":\"U8\",\"data_offsets\":[0,0],\"shape\":[" + many + "]", 0)
          .find("9223372036854775807, ...] of U8 is more than 2^63"),
      std::string::npos);
  EXPECT_EQ(one(R"("dtype":"F4","shape":[3],"data_offsets":[0,1])", 1),
            "a.bin (header): /a/shape: shape [3] of F4 does not fill whole "
            "bytes");
  EXPECT_EQ(one(R"("dtype":"F32","shape":[2],"data_offsets":[0,4])", 4),
            "a.bin (header): /a/data_offsets: the range has 4 bytes, but [2] "
            "of F32 takes 8");
  for (const char *offsets : {"[4,0]", "[0]", "[]", "[0,4,8]"})
    EXPECT_EQ(one(R"("dtype":"F32","shape":[1],"data_offsets":)" +
                      std::string(offsets),
                  4),
              "a.bin (header): /a/data_offsets: expected [begin, end]");
  EXPECT_EQ(one(R"("dtype":"F32","shape":[1],"data_offsets":[0,4])", 3),
            "a.bin (header): the tensors end at byte 4 of the data, but the "
            "file has 3 bytes of it");
  EXPECT_EQ(one(R"("dtype":"F32","shape":[1],"data_offsets":[0,4])", 5),
            "a.bin (header): the tensors end at byte 4 of the data, but the "
            "file has 5 bytes of it");
}

/// Two tensors of 4 bytes, the second at `begin`.
static std::string two(int begin) {
  return R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
         R"("b":{"dtype":"F32","shape":[1],"data_offsets":[)" +
         std::to_string(begin) + "," + std::to_string(begin + 4) + "]}}";
}

TEST(Safetensors, RefusesHolesAndOverlaps) {
  read(safetensors(two(4), 8));
  EXPECT_EQ(refused(safetensors(two(2), 8)),
            "a.bin (header): /b: its data begins at 2, inside that of another "
            "tensor, which ends at 4");
  EXPECT_EQ(refused(safetensors(two(0), 4)),
            "a.bin (header): /b: its data begins at 0, inside that of another "
            "tensor, which ends at 4");
  EXPECT_EQ(refused(safetensors(two(8), 12)),
            "a.bin (header): /b: its data begins at 8, with a hole after 4");
  EXPECT_EQ(one(R"("dtype":"F32","shape":[1],"data_offsets":[4,8])", 8),
            "a.bin (header): /a: its data begins at 4, with a hole after 0");
}

TEST(Safetensors, NamesOtherFiles) {
  EXPECT_EQ(refused("version https://git-lfs.github.com/spec/v1\noid sha256:"),
            "a.bin: is a pointer of Git LFS, not the file itself");
  EXPECT_EQ(refused("PK\x03\x04 and more"),
            "a.bin: is a PyTorch pickle, which is never opened");
}
