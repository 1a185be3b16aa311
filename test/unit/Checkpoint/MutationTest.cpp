//===- MutationTest.cpp ---------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fixtures.h"

#include <random>

using namespace autopar;
using namespace autopar::checkpoint;
using namespace autopar::test;

/// Damages `text` in `rounds` ways. What is read of it must be in bounds, and
/// the answer an index or an error with a place.
static void damage(const std::string &text, uint64_t bytes, int rounds) {
  std::mt19937 random(1);
  for (int round = 0; round < rounds; ++round) {
    std::string broken = text;
    for (int i = 0; i <= round % 4; ++i)
      broken[random() % broken.size()] = static_cast<char>(random());
    if (round % 5 == 0)
      broken.resize(random() % broken.size());
    MemorySource source("a", broken, round % 5 ? bytes : broken.size());
    Result<CheckpointIndex> index = readCheckpoint(source);
    EXPECT_TRUE(index || index.error().where.rfind("a", 0) == 0);
  }
}

TEST(Mutation, OfSafetensors) {
  std::string text = safetensors(
      R"({"__metadata__":{"format":"pt"},
          "b":{"dtype":"F32","shape":[2],"data_offsets":[12,20]},
          "a":{"dtype":"BF16","shape":[2,3],"data_offsets":[0,12]}})");
  damage(text, text.size() + 20, 20'000);
}

TEST(Mutation, OfGguf) {
  auto string = [](const std::string &value) {
    return raw(uint64_t(value.size())) + value;
  };
  std::string text = "GGUF" + raw(uint32_t(3)) + raw(uint64_t(1)) +
                     raw(uint64_t(2)) + string("general.alignment") +
                     raw(uint32_t(4)) + raw(uint32_t(32)) + string("tokens") +
                     raw(uint32_t(9)) + raw(uint32_t(8)) + raw(uint64_t(2)) +
                     string("a") + string("bc") + string("w") +
                     raw(uint32_t(1)) + raw(uint64_t(32)) + raw(uint32_t(8)) +
                     raw(uint64_t(0));
  damage(text, text.size() + 100, 20'000);
}
