//===- StackFixtures.cpp - Layers that stages take, and what prices them --===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fixtures.h"

using namespace autopar;
using namespace autopar::cost;
using namespace autopar::hardware;
using namespace autopar::program;
using namespace autopar::runtime;
using namespace autopar::test;

static CostProgram cut(CostProgram program) {
  program.layers = {
      {"model", 1, 0, 1}, {"layer", 80, 2, 8}, {"model", 1, 9, 9}};
  auto isHead = [](const std::string &name) {
    return name == "norm" || name == "lm_head" || name == "model/norm" ||
           name == "model/lm_head" || name == "model/logits.all_gather";
  };
  for (Kernel &kernel : program.kernels)
    kernel.layer = isHead(kernel.name) ? 2 : kernel.layer;
  for (Collective &collective : program.collectives)
    collective.layer = isHead(collective.name) ? 2 : collective.layer;
  for (Resident &weight : program.residents)
    weight.layer = isHead(weight.name) && weight.layer == 0 ? 2 : weight.layer;
  Dims hidden = {symbol(batch), symbol(query), number(8192)};
  program.stack.layers = {{{{1, 1}}, {}, {{hidden, ElementType::bf16}}}};
  program.stack.runs = {{80, {{0, 1}}}};
  program.stack.before = {{0, 1}};
  program.stack.after = {{2, 1}};
  program.stack.inputs = {{{symbol(batch), symbol(query)}, ElementType::i32}};
  return program;
}

CostProgram test::makeStack() { return cut(makeDecoder()); }

CostProgram test::makeBorderedStack() {
  CostProgram program = cut(makeBorderedDecoder());
  // No loop holds the border any more: stages may begin there.
  Border &inside = program.borders[0];
  inside.layer = std::nullopt;
  program.stack.layers[0].ends = {inside.after, inside.before};
  program.stack.headAfter = program.borders[1].after;
  return program;
}

/// Ratios without a pattern, from 0.5 to 2.5.
static std::shared_ptr<const ShapeTable>
makeTable(std::vector<ShapeTable::Coordinate> coordinates) {
  auto table = std::make_shared<ShapeTable>();
  table->coordinates = std::move(coordinates);
  size_t cells = 1;
  for (const ShapeTable::Coordinate &one : table->coordinates)
    cells *= one.at.size();
  for (size_t i = 0; i < cells; ++i)
    table->ratios.push_back(0.5 + static_cast<double>(i * 37 % 101) / 50);
  return table;
}

void test::addShapes(Chip &chip) {
  KernelCurve &products = chip.kernels[KernelKind::matmul]["bf16"];
  products.shapes[static_cast<size_t>(ShapeKind::product)] =
      makeTable({{"rows", {1, 8, 64, 512, 4096}},
                 {"columns", {1024, 5000, 30000}},
                 {"contraction", {1024, 8192}}});
  KernelCurve &attention = chip.kernels[KernelKind::attention]["bf16"];
  attention.floorUs = 4;
  attention.exponent = 1;
  for (ShapeKind kind : {ShapeKind::decode, ShapeKind::prefill})
    attention.shapes[static_cast<size_t>(kind)] = makeTable(
        {{"streams", {1, 4, 32, 128}},
         {kind == ShapeKind::decode ? "context" : "query", {16, 256, 4096}},
         {"group", {1, 8}},
         {"head_size", {64, 128}}});
}

Machine test::makeMeasuredMachine(int64_t nodes) {
  Machine machine = makeMachine(nodes);
  Pool &pool = machine.pools[0];
  KernelCurve curve;
  curve.floorUs = 2.1;
  curve.computeEfficiency = 0.7;
  curve.memoryEfficiency = 0.8;
  curve.exponent = 3;
  curve.source = {"measured", "products"};
  curve.path = "chips.h100-sxm.kernels.matmul.bf16";
  pool.chip.kernels[KernelKind::matmul]["bf16"] = curve;
  addShapes(pool.chip);
  pool.tiers[0].curves[CollectiveKind::all_reduce][8] = {
      20, {12.5, 20.1, 37.7}, {"measured", "calls"}};
  return machine;
}

Runtime test::makeBusyRuntime() {
  Runtime runtime = makeRuntime();
  runtime.memoryUtilization.value = 0.9;
  runtime.contextBytes.value = 1e9;
  runtime.libraryBytes.value = 123;
  runtime.communicationBytes.value = 4567.5;
  runtime.hostTimeUs.value = 250.3;
  runtime.kernelFloorUs.value = 1.7;
  runtime.mergesSharedInput = runtime.fusesElementwise = true;
  return runtime;
}

Layout test::makeLayout(int64_t tpSize) {
  Layout layout;
  layout.axes = {{1, tpSize}};
  layout.devices = tpSize;
  return layout;
}
