//===- GgufTest.cpp -------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fixtures.h"

using namespace autopar;
using namespace autopar::checkpoint;
using namespace autopar::test;

static std::string text(const std::string &value) {
  return raw(uint64_t(value.size())) + value;
}

template <typename T>
static std::string pair(const std::string &key, uint32_t kind, T value) {
  return text(key) + raw(kind) + raw(value);
}

static std::string pair(const std::string &key, const std::string &value) {
  return text(key) + raw(uint32_t(8)) + text(value);
}

/// `sizes` are innermost first, as ggml has them.
static std::string tensor(const std::string &name,
                          const std::vector<uint64_t> &sizes, uint32_t type,
                          uint64_t offset) {
  std::string entry = text(name) + raw(uint32_t(sizes.size()));
  for (uint64_t size : sizes)
    entry += raw(size);
  return entry + raw(type) + raw(offset);
}

static std::string front(uint64_t tensors, uint64_t pairs,
                         uint32_t version = 3) {
  return "GGUF" + raw(version) + raw(tensors) + raw(pairs);
}

/// `header`, padded, and `data` bytes.
static std::string file(const std::string &header, size_t data,
                        size_t alignment = 32) {
  size_t begin = (header.size() + alignment - 1) / alignment * alignment;
  return header + std::string(begin - header.size() + data, '\0');
}

TEST(Gguf, ReadsMetadataOfEveryKind) {
  std::string strings = text("tokens") + raw(uint32_t(9)) + raw(uint32_t(8)) +
                        raw(uint64_t(2)) + text("a") + text("bc");
  std::string numbers = text("scores") + raw(uint32_t(9)) + raw(uint32_t(6)) +
                        raw(uint64_t(3)) + std::string(12, '\0');
  std::string nested = text("nested") + raw(uint32_t(9)) + raw(uint32_t(9)) +
                       raw(uint64_t(1)) + raw(uint32_t(0)) + raw(uint64_t(2)) +
                       "xy";
  CheckpointIndex index = read(
      front(0, 16) + pair("u8", 0, uint8_t(200)) + pair("i8", 1, int8_t(-3)) +
      pair("u16", 2, uint16_t(65535)) + pair("i16", 3, int16_t(-300)) +
      pair("u32", 4, uint32_t(1) << 31) + pair("i32", 5, int32_t(-70000)) +
      pair("f32", 6, 1.5f) + pair("bool", 7, uint8_t(1)) +
      pair("string", "h\xc3\xa9") + pair("u64", 10, UINT64_MAX) +
      pair("i64", 11, INT64_MIN) + pair("f64", 12, 0.25) + strings + numbers +
      nested + pair("last", 0, uint8_t(7)));
  std::string all;
  for (auto &[key, value] : index.metadata)
    all += key + "=" + value + "\n";
  EXPECT_EQ(all, "u8=200\ni8=-3\nu16=65535\ni16=-300\nu32=2147483648\n"
                 "i32=-70000\nf32=1.5\nbool=true\nstring=h\xc3\xa9\n"
                 "u64=18446744073709551615\ni64=-9223372036854775808\n"
                 "f64=0.25\ntokens=array of 2\nscores=array of 3\n"
                 "nested=array of 1\nlast=7\n");
}

TEST(Gguf, ReadsTensors) {
  for (uint32_t version : {2, 3}) {
    // 2 rows of 256 in Q4_K take 288 bytes.
    CheckpointIndex index = read(file(
        front(2, 1, version) + pair("general.architecture", "llama") +
            tensor("blk.0.w", {256, 2}, 12, 0) + tensor("norm", {3}, 0, 288),
        300));
    EXPECT_EQ(index.format, CheckpointFormat::gguf);
    ASSERT_EQ(index.tensors.size(), 2u);
    EXPECT_EQ(index.tensors[0].shape, (std::vector<int64_t>{2, 256}));
    EXPECT_EQ(index.tensors[0].dtype, "Q4_K");
    EXPECT_EQ(index.tensors[0].type, std::nullopt);
    EXPECT_EQ(index.tensors[0].bytes, 288);
    EXPECT_EQ(index.tensors[1].type, ElementType::f32);
    EXPECT_EQ(index.bytes(), Checked(300));
    EXPECT_EQ(index.metadataOr("general.architecture"), "llama");
    EXPECT_TRUE(index.notes.empty());
  }
}

TEST(Gguf, AlignsAsTheFileSays) {
  std::string header = front(2, 1) +
                       pair("general.alignment", 4, uint32_t(64)) +
                       tensor("a", {3}, 0, 0) + tensor("b", {3}, 0, 64);
  EXPECT_EQ(read(file(header, 76, 64)).bytes(), Checked(24));
  EXPECT_EQ(read(file(header, 200, 64)).notes,
            std::vector<std::string>{"124 bytes follow the last tensor"});
}

TEST(Gguf, KnowsTheBlocksOfGgml) {
  // Bytes of 256 elements.
  const std::pair<uint32_t, int> bytes[] = {
      {0, 1024},  {1, 512},   {2, 144},   {3, 160},  {6, 176},  {7, 192},
      {8, 272},   {9, 288},   {10, 84},   {11, 110}, {12, 144}, {13, 176},
      {14, 210},  {15, 292},  {16, 66},   {17, 74},  {18, 98},  {19, 50},
      {20, 144},  {21, 110},  {22, 82},   {23, 136}, {24, 256}, {25, 512},
      {26, 1024}, {27, 2048}, {28, 2048}, {29, 56},  {30, 512}, {34, 54},
      {35, 66},   {39, 136},  {40, 144},  {41, 36},  {42, 72}};
  for (auto [type, size] : bytes)
    EXPECT_EQ(
        read(file(front(1, 0) + tensor("a", {256}, type, 0), size)).bytes(),
        Checked(size))
        << type;
}

TEST(Gguf, ReadsLittleOfALargeFile) {
  std::string header = front(1, 1) + text("scores") + raw(uint32_t(9)) +
                       raw(uint32_t(6)) + raw(uint64_t(10'000'000));
  std::string behind = tensor("a", {1u << 30}, 0, 0);
  std::string whole = header + std::string(40'000'000, '\0') + behind;
  MemorySource source("a", whole, whole.size() + (uint64_t(5) << 30));
  Result<CheckpointIndex> index = readCheckpoint(source);
  ASSERT_TRUE(index) << index.error().str();
  EXPECT_LT(source.taken, uint64_t(3) << 20);
}

TEST(Gguf, RefusesOtherVersions) {
  EXPECT_EQ(refused(front(0, 0, 1)), "a.bin: byte 4: unknown GGUF version 1");
  EXPECT_EQ(refused(front(0, 0, 4)), "a.bin: byte 4: unknown GGUF version 4");
  EXPECT_EQ(refused(front(0, 0, 3u << 24)),
            "a.bin: byte 4: is big-endian GGUF");
}

TEST(Gguf, RefusesTruncation) {
  std::string whole =
      front(1, 1) + pair("general.name", "tiny") + tensor("a", {8}, 0, 0);
  read(file(whole, 32));
  // Every shorter file is refused, none crashes.
  for (size_t size = 8; size < file(whole, 32).size(); ++size)
    refused(file(whole, 32).substr(0, size));
  EXPECT_EQ(refused(file(whole, 31)),
            "a.bin: byte 127: the tensors end at byte 128, after the end of "
            "the file");
}

TEST(Gguf, RefusesHugeCounts) {
  EXPECT_EQ(refused(front(UINT64_MAX, 0)),
            "a.bin: byte 8: 18446744073709551615 tensors do not fit in the 8 "
            "bytes that follow");
  EXPECT_EQ(refused(front(0, UINT64_MAX)),
            "a.bin: byte 16: 18446744073709551615 metadata entries do not fit "
            "in the 0 bytes that follow");
  EXPECT_EQ(refused(front(0, 1) + raw(uint64_t(1) << 62) + "name and value"),
            "a.bin: byte 32: 4611686018427387904 bytes are expected here, but "
            "only 14 follow");
  EXPECT_EQ(refused(front(0, 1) + text("a") + raw(uint32_t(9)) +
                    raw(uint32_t(8)) + raw(uint64_t(1) << 60)),
            "a.bin: byte 41: 1152921504606846976 elements do not fit in the 0 "
            "bytes that follow");
  EXPECT_EQ(refused(front(0, 1) + text("a") + raw(uint32_t(9)) +
                    raw(uint32_t(12)) + raw(uint64_t(1) << 61)),
            "a.bin: byte 41: 2305843009213693952 elements do not fit in the 0 "
            "bytes that follow");
}

TEST(Gguf, RefusesBadMetadata) {
  EXPECT_EQ(refused(front(0, 2) + pair("a", 0, uint8_t(1)) +
                    pair("a", 0, uint8_t(1))),
            "a.bin: byte 38: duplicate key \"a\"");
  EXPECT_EQ(refused(front(0, 1) + pair("a", 13, uint8_t(1))),
            "a.bin: byte 33: unknown kind of value 13");
  EXPECT_EQ(refused(front(0, 1) + pair("a", 7, uint8_t(2))),
            "a.bin: byte 37: expected 0 or 1 for a bool, found 2");
  EXPECT_EQ(refused(front(0, 1) + pair("a\xc0\x80", 0, uint8_t(2))),
            "a.bin: byte 24: a key is not UTF-8");
  EXPECT_EQ(refused(front(0, 1) + pair("a", "\xed\xa0\x80")),
            "a.bin: byte 37: a string is not UTF-8");
  EXPECT_EQ(refused(front(0, 1) + text("a") + raw(uint32_t(9)) +
                    raw(uint32_t(77)) + raw(uint64_t(0))),
            "a.bin: byte 37: unknown kind of value 77");
  std::string deep;
  for (int i = 0; i < 300; ++i)
    deep += raw(uint32_t(9)) + raw(uint64_t(1));
  EXPECT_NE(refused(front(0, 1) + text("a") + raw(uint32_t(9)) + deep)
                .find("arrays nested deeper than 256 levels"),
            std::string::npos);
  for (uint32_t alignment : {0, 3, 48})
    EXPECT_EQ(refused(front(0, 1) + pair("general.alignment", 4, alignment)),
              "a.bin: byte 53: general.alignment is " +
                  std::to_string(alignment) +
                  ", expected a power of two as uint32");
  EXPECT_EQ(refused(front(0, 1) + pair("general.alignment", "32")),
            "a.bin: byte 53: general.alignment is 32, expected a power of two "
            "as uint32");
}

static std::string refusedTensor(const std::string &entry) {
  return refused(file(front(1, 0) + entry, 64));
}

TEST(Gguf, RefusesBadTensors) {
  EXPECT_EQ(refusedTensor(tensor("a", {32}, 43, 0)),
            "a.bin: byte 45: unknown ggml type 43");
  EXPECT_EQ(refusedTensor(tensor("a", {32}, 31, 0)),
            "a.bin: byte 45: ggml type 31 (Q4_0_4_4) was removed from ggml");
  EXPECT_EQ(refusedTensor(tensor("a", {1, 1, 1, 1, 1}, 0, 0)),
            "a.bin: byte 33: a tensor of 5 dimensions; ggml has at most 4");
  EXPECT_EQ(refusedTensor(tensor("a", {31}, 2, 0)),
            "a.bin: byte 45: shape [31] of Q4_0 has rows that are no whole "
            "blocks of 32");
  EXPECT_EQ(refusedTensor(tensor("a", {}, 2, 0)),
            "a.bin: byte 37: shape [] of Q4_0 has rows that are no whole "
            "blocks of 32");
  EXPECT_EQ(refusedTensor(tensor("a", {UINT64_MAX}, 0, 0)),
            "a.bin: byte 37: dimension 18446744073709551615 is 2^63 or more");
  EXPECT_EQ(
      refusedTensor(tensor("a", {1ull << 40, 1ull << 40}, 0, 0)),
      "a.bin: byte 53: shape [1099511627776, 1099511627776] of F32 is more "
      "than 2^63 bytes");
  EXPECT_EQ(refusedTensor(tensor("a", {1}, 0, 32)),
            "a.bin: byte 49: the data of \"a\" is at offset 32, expected 0");
  EXPECT_EQ(refusedTensor(tensor("a", {1}, 0, UINT64_MAX)),
            "a.bin: byte 49: the data of \"a\" is at offset "
            "18446744073709551615, expected 0");
  EXPECT_EQ(refusedTensor(tensor("", {1}, 0, 0)),
            "a.bin: byte 24: a tensor has no name");
  EXPECT_EQ(refusedTensor(tensor("a\n", {1}, 0, 0)),
            "a.bin: byte 24: the tensor name \"a?\" has a control character");
  EXPECT_EQ(
      refused(file(
          front(2, 0) + tensor("a", {1}, 0, 0) + tensor("a", {1}, 0, 32), 64)),
      "a.bin: byte 57: duplicate tensor \"a\"");
  // Sums of many large tensors stay exact.
  EXPECT_EQ(refused(file(front(2, 0) + tensor("a", {1ull << 60}, 0, 0) +
                             tensor("b", {1ull << 60}, 0, 1ull << 62),
                         64)),
            "a.bin: byte 160: the tensors end at byte 9223372036854775904, "
            "after the end of the file");
}
