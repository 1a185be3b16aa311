//===- StagesTest.cpp -----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Program/Stages.h"

#include "autopar/Support/Limits.h"

#include <gtest/gtest.h>

using namespace autopar;
using namespace autopar::program;

/// Three times two layers of kind 1 and one of kind 2, which runs kind 3 twice;
/// the weight of "table" is read by both parts of the model.
static CostProgram makeProgram() {
  CostProgram program;
  program.model = "tiny";
  program.layers = {{"model", 1, 0, 1},
                    {"near", 6, 2, 3},
                    {"far", 3, 4, 7},
                    {"inner", 6, 5, 6},
                    {"model", 1, 8, 9}};
  program.stack.layers = {{{{1, 1}}, {}, {}}, {{{2, 1}, {3, 2}}, {}, {}}};
  program.stack.runs = {{3, {{0, 2}, {1, 1}}}};
  program.stack.before = {{0, 1}};
  program.stack.after = {{4, 1}};
  for (uint32_t i = 0; i < program.layers.size(); ++i) {
    Kernel kernel;
    kernel.layer = i;
    // Twice in each layer.
    kernel.count = 2 * program.layers[i].count;
    program.kernels.push_back(kernel);
    Resident weight;
    weight.layer = i;
    weight.count = program.layers[i].count;
    program.residents.push_back(weight);
  }
  program.residents[0].name = "table";
  program.residents[0].readers = {4};
  program.activations = {{"ids", 0, {}, ElementType::i32, 0, 1},
                         {"hidden", 0, {}, ElementType::bf16, 1, 8},
                         {"inside", 3, {}, ElementType::bf16, 5, 6}};
  return program;
}

TEST(Stages, ListsLayersInOrder) {
  Result<std::vector<uint32_t>> order = layersInOrder(makeProgram());
  ASSERT_TRUE(order);
  EXPECT_EQ(*order, (std::vector<uint32_t>{0, 0, 1, 0, 0, 1, 0, 0, 1}));
}

TEST(Stages, RefusesWhatHasNoLayersOrTooMany) {
  CostProgram program = makeProgram();
  program.stack.runs = {{limits::maxLayers, {{0, limits::maxLayers}}}};
  EXPECT_NE(layersInOrder(program).error().message.find("has 1000000000000"),
            std::string::npos)
      << layersInOrder(program).error().message;
  program.stack.runs = {{INT64_MAX, {{0, INT64_MAX}}}};
  EXPECT_FALSE(layersInOrder(program));
  program.stack = LayerStack();
  EXPECT_EQ(layersInOrder(program).error().message,
            "'tiny' has no layers that stages could divide");
}

/// The kinds of layers are near, near, far, three times.
TEST(Stages, FindsTheLayersThatShareCaches) {
  CostProgram program = makeProgram();
  std::vector<uint32_t> order = *layersInOrder(program);
  EXPECT_FALSE(layersOfSharedCaches(program, order));
  // A weight that another layer reads is copied, and does not count.
  program.residents[2].readers = {1};
  EXPECT_FALSE(layersOfSharedCaches(program, order));
  Resident cache;
  cache.kind = Resident::Kind::kv_cache;
  cache.layer = 2;
  program.residents.push_back(cache);
  EXPECT_FALSE(layersOfSharedCaches(program, order));
  // "far" has two parts, which are in the layers 2, 5 and 8.
  program.residents.back().readers = {3};
  EXPECT_EQ(layersOfSharedCaches(program, order),
            std::make_optional(std::pair<size_t, size_t>(2, 8)));
  program.residents.back().readers = {1};
  EXPECT_EQ(layersOfSharedCaches(program, order),
            std::make_optional(std::pair<size_t, size_t>(0, 8)));
}

/// "table" is on both ends; what "far" shares with the head is on one.
TEST(Stages, FindsWhatSeveralStagesHave) {
  CostProgram program = makeProgram();
  const std::vector<Resident> &weights = program.residents;
  for (size_t i = 0; i < weights.size(); ++i) {
    EXPECT_EQ(isCopied(program, weights[i]), i == 0) << i;
    EXPECT_FALSE(isSharedByLayers(program, weights[i])) << i;
  }
  Resident shared = weights[2];
  // "inner" is a part of "far".
  shared.readers = {3};
  EXPECT_FALSE(isSharedByLayers(program, shared));
  shared.readers = {4};
  EXPECT_TRUE(isSharedByLayers(program, shared));
  EXPECT_FALSE(isCopied(program, shared));
  shared.readers = {1};
  EXPECT_TRUE(isSharedByLayers(program, shared));
}

/// Layers 1 to 3 of nine: near, far, near.
TEST(Stages, CountsKindsOfLayers) {
  CostProgram program = makeProgram();
  PartCounts counts(program);
  for (int i : {0, 1, 0})
    addKinds(program.stack.layers[i].kinds, counts.kinds);
  EXPECT_EQ(counts.kinds, (KindCounts{0, 2, 1, 2, 0}));
}

/// The program with a sum that ends each layer and a norm that begins it, which
/// runtimes launch as one; and a norm after the last.
static CostProgram makeBordered() {
  CostProgram program = makeProgram();
  program.kernels.clear();
  auto add = [&](uint32_t layer, int64_t count) {
    Kernel kernel;
    kernel.name = program.layers[layer].name;
    kernel.layer = layer;
    kernel.count = count;
    kernel.fusionGroup = program.kernels.size();
    program.kernels.push_back(kernel);
  };
  for (uint32_t layer : {1, 2}) {
    add(layer, program.layers[layer].count);
    add(layer, program.layers[layer].count);
  }
  add(3, 12);
  add(3, 12);
  add(4, 1);
  // near, near, far: three times. Within "inner", one follows the other.
  program.borders = {{1, 0, 3}, {1, 2, 3}, {3, 0, 2}, {3, 6, 1}, {5, 4, 6, 3}};
  program.stack.layers[0].ends = {0, 1};
  program.stack.layers[1].ends = {2, 3};
  program.stack.headAfter = 6;
  return program;
}

TEST(Stages, FindsTheBorderBeforeAPlace) {
  CostProgram program = makeBordered();
  std::vector<uint32_t> order = *layersInOrder(program);
  std::vector<std::optional<uint32_t>> borders;
  for (size_t place = 0; place < order.size() + 3; ++place)
    borders.push_back(borderInto(program, order, place));
  // Nothing runs before the first layer that its norm could follow.
  std::optional<uint32_t> none;
  EXPECT_EQ(borders, (std::vector<std::optional<uint32_t>>{
                         none, none, 0, 1, 2, 0, 1, 2, 0, 1, 3, none}));
}

/// Borders lead into a part and out of it; those inside do both.
TEST(Stages, CountsBordersOfParts) {
  CostProgram program = makeBordered();
  std::vector<uint32_t> order = *layersInOrder(program);
  PartCounts first(program), second(program), alone(program);
  addPlaces(program, order, 0, 3, true, first);
  addPlaces(program, order, 3, 4, true, second);
  addPlaces(program, order, 3, 4, false, alone);
  using Counts = std::vector<int64_t>;
  EXPECT_EQ(first.kinds, (KindCounts{1, 2, 0, 0, 0}));
  EXPECT_EQ(first.into, (Counts{1, 0, 0, 0, 0}));
  EXPECT_EQ(first.outOf, (Counts{1, 1, 0, 0, 0}));
  EXPECT_EQ(second.kinds, (KindCounts{0, 0, 1, 2, 0}));
  EXPECT_EQ(second.into, (Counts{0, 1, 0, 0, 0}));
  EXPECT_EQ(second.outOf, (Counts{0, 0, 1, 0, 0}));
  EXPECT_EQ(alone.kinds, second.kinds);
  EXPECT_EQ(alone.into, Counts(5));
  EXPECT_EQ(alone.outOf, Counts(5));
}

/// Parts of all places together run the program.
TEST(Stages, PartsSumToTheWhole) {
  CostProgram program = makeBordered();
  std::vector<uint32_t> order = *layersInOrder(program);
  for (size_t size : {1, 2, 4, 11}) {
    KindCounts kinds(program.layers.size());
    std::vector<int64_t> into(program.borders.size());
    for (size_t place = 0; place < order.size() + 2; place += size) {
      PartCounts counts(program);
      addPlaces(program, order, place, std::min(place + size, order.size() + 2),
                true, counts);
      for (size_t i = 0; i < kinds.size(); ++i)
        kinds[i] += counts.kinds[i];
      for (size_t i = 0; i < into.size(); ++i)
        into[i] += counts.into[i];
    }
    for (size_t i = 0; i < kinds.size(); ++i)
      EXPECT_EQ(kinds[i], program.layers[i].count);
    for (size_t i = 0; i < into.size(); ++i)
      EXPECT_EQ(into[i],
                program.borders[i].layer ? 0 : program.borders[i].count);
  }
}
