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
  program.stack.layers = {{{{1, 1}}, {}}, {{{2, 1}, {3, 2}}, {}}};
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
  KindCounts counts(program.layers.size());
  for (int i : {0, 1, 0})
    addKinds(program.stack.layers[i].kinds, counts);
  EXPECT_EQ(counts, (KindCounts{0, 2, 1, 2, 0}));
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
  KindCounts counts(program.layers.size());
  addKinds(program.stack.after, counts);
  CostProgram stage = selectLayers(program, counts, 1);
  EXPECT_EQ(weightCounts(stage), (std::vector<int64_t>{1, 0, 0, 0, 1}));
  EXPECT_EQ(kernelCounts(stage), (std::vector<int64_t>{0, 0, 0, 0, 2}));
}

/// Stages of one layer each add up to the program.
TEST(Stages, PartsSumToTheWhole) {
  CostProgram program = makeProgram();
  std::vector<int64_t> kernels(program.kernels.size());
  auto add = [&](const std::vector<KindCount> &kinds) {
    KindCounts counts(program.layers.size());
    addKinds(kinds, counts);
    CostProgram stage = selectLayers(program, counts, 1);
    for (size_t i = 0; i < kernels.size(); ++i)
      kernels[i] += stage.kernels[i].count;
  };
  add(program.stack.before);
  Result<std::vector<uint32_t>> order = layersInOrder(program);
  for (uint32_t layer : *order)
    add(program.stack.layers[layer].kinds);
  add(program.stack.after);
  EXPECT_EQ(kernels, kernelCounts(program));
}
