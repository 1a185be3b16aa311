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
  program.stack.layers = {{{{1, 1}}}, {{{2, 1}, {3, 2}}}};
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

static std::vector<int64_t> kernelCounts(const CostProgram &program) {
  std::vector<int64_t> counts;
  for (const Kernel &kernel : program.kernels)
    counts.push_back(kernel.count);
  return counts;
}

static std::vector<int64_t> weightCounts(const CostProgram &program) {
  std::vector<int64_t> counts;
  for (const Resident &weight : program.residents)
    counts.push_back(weight.count);
  return counts;
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

/// Layers 1 to 3 of nine: near, far, near. In three passes.
TEST(Stages, SelectsWhatAStageRuns) {
  CostProgram program = makeProgram();
  PartCounts counts(program);
  for (int i : {0, 1, 0})
    addKinds(program.stack.layers[i].kinds, counts.kinds);
  EXPECT_EQ(counts.kinds, (KindCounts{0, 2, 1, 2, 0}));
  CostProgram stage = selectLayers(program, counts, 3);
  EXPECT_EQ(kernelCounts(stage), (std::vector<int64_t>{0, 12, 6, 12, 0}));
  EXPECT_EQ(weightCounts(stage), (std::vector<int64_t>{0, 2, 1, 2, 0}));
  ASSERT_EQ(stage.activations.size(), 2u);
  EXPECT_EQ(stage.activations[0].name, "hidden");
  EXPECT_EQ(stage.activations[1].name, "inside");
}

/// The last stage reads the table of the first: both have it.
TEST(Stages, CopiesWhatSeveralStagesRead) {
  CostProgram program = makeProgram();
  PartCounts counts(program);
  addKinds(program.stack.after, counts.kinds);
  CostProgram stage = selectLayers(program, counts, 1);
  EXPECT_EQ(weightCounts(stage), (std::vector<int64_t>{1, 0, 0, 0, 1}));
  EXPECT_EQ(kernelCounts(stage), (std::vector<int64_t>{0, 0, 0, 0, 2}));
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

static std::vector<int64_t> borderCounts(const CostProgram &program) {
  std::vector<int64_t> counts;
  for (const Border &border : program.borders)
    counts.push_back(border.count);
  return counts;
}

/// Stages of one layer each, or of any, add up to the program.
TEST(Stages, PartsSumToTheWhole) {
  for (const CostProgram &program : {makeProgram(), makeBordered()})
    for (size_t size : {1, 2, 4, 11}) {
      std::vector<int64_t> kernels(program.kernels.size()),
          borders(program.borders.size());
      std::vector<uint32_t> order = *layersInOrder(program);
      for (size_t place = 0; place < order.size() + 2; place += size) {
        PartCounts counts(program);
        addPlaces(program, order, place,
                  std::min(place + size, order.size() + 2), true, counts);
        CostProgram stage = selectLayers(program, counts, 1);
        for (size_t i = 0; i < kernels.size(); ++i) {
          EXPECT_GE(stage.kernels[i].count, 0);
          kernels[i] += stage.kernels[i].count;
        }
        for (size_t i = 0; i < borders.size(); ++i)
          borders[i] += stage.borders[i].count;
      }
      EXPECT_EQ(kernels, kernelCounts(program));
      EXPECT_EQ(borders, borderCounts(program));
    }
}

/// The second stage begins with the norm of a far layer, and with the sum that
/// the first ended with.
TEST(Stages, ARunBeforeABorderGoesWithWhatFollows) {
  CostProgram program = makeBordered();
  std::vector<uint32_t> order = *layersInOrder(program);
  PartCounts first(program), second(program), alone(program);
  addPlaces(program, order, 0, 3, true, first);
  addPlaces(program, order, 3, 4, true, second);
  addPlaces(program, order, 3, 4, false, alone);
  EXPECT_EQ(kernelCounts(selectLayers(program, first, 1)),
            (std::vector<int64_t>{2, 1, 0, 0, 0, 0, 0}));
  EXPECT_EQ(borderCounts(selectLayers(program, first, 2)),
            (std::vector<int64_t>{2, 0, 0, 0, 0}));
  EXPECT_EQ(kernelCounts(selectLayers(program, second, 1)),
            (std::vector<int64_t>{0, 1, 1, 0, 4, 4, 0}));
  EXPECT_EQ(borderCounts(selectLayers(program, second, 1)),
            (std::vector<int64_t>{0, 1, 0, 0, 2}));
  EXPECT_EQ(kernelCounts(selectLayers(program, alone, 1)),
            (std::vector<int64_t>{0, 0, 1, 1, 4, 4, 0}));
}
