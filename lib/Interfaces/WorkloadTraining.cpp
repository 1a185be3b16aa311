//===- WorkloadTraining.cpp - Records of training -------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Interfaces/WorkloadBuilder.h"

using namespace autopar;
using namespace autopar::program;
using namespace mlir;

void WorkloadBuilder::save(Value value, StringRef name) {
  Saved record;
  record.name = name.str();
  record.layer = layer;
  record.count = count;
  TensorView view(value);
  for (unsigned i = 0; i < view.rank(); ++i)
    addDims(dim(view, i, /*held=*/true), view.dim(i), record.shape);
  record.type = formatOf(value);
  program.saved.push_back(std::move(record));
}

static Traffic trafficOf(const Resident &resident, bool write) {
  Traffic traffic;
  traffic.role = Traffic::Role::state;
  traffic.write = write;
  traffic.shape = resident.shape;
  traffic.type = resident.type;
  return traffic;
}

/// Adds the traffic of a kernel that reads `resident` and writes it.
static void change(Kernel &kernel, const Resident &resident) {
  kernel.traffic.push_back(trafficOf(resident, /*write=*/false));
  kernel.traffic.push_back(trafficOf(resident, /*write=*/true));
}

/// Returns a record that belongs to the weight `weight`, such as its gradient,
/// with one number per element.
static Resident partnerOf(const Resident &weight, Resident::Kind kind,
                          Dims shape, ElementType type) {
  Resident partner;
  partner.name = weight.name;
  partner.kind = kind;
  partner.layer = weight.layer;
  partner.count = weight.count;
  partner.shape = std::move(shape);
  partner.type = type;
  partner.topK = weight.topK;
  partner.readers = weight.readers;
  return partner;
}

void WorkloadBuilder::addPasses(Operation *op, Value rows,
                                const Passes &passes) {
  Kernel &kernel = addKernel(op, KernelKind::elementwise);
  kernel.routed = true;
  auto add = [&](int times, ElementType type, bool isWrite) {
    for (int i = 0; i < times; ++i)
      move(kernel, dims(rows), type, isWrite);
  };
  add(passes.reads, formatOf(rows), /*isWrite=*/false);
  add(passes.writes, formatOf(rows), /*isWrite=*/true);
  add(passes.floatReads, ElementType::f32, /*isWrite=*/false);
  add(passes.floatWrites, ElementType::f32, /*isWrite=*/true);
}

void WorkloadBuilder::accumulate(Operation *op, Value addend, Value weight) {
  weight = resolve(weight);
  auto [known, isNew] = gradients.try_emplace(weight, program.residents.size());
  if (isNew)
    program.residents.push_back(
        partnerOf(program.residents[residents.lookup(weight).front()],
                  Resident::Kind::gradient, dims(addend), formatOf(addend)));
  Kernel &kernel = addKernel(op, KernelKind::elementwise, addend);
  kernel.ofWeights = true;
  read(kernel, addend);
  addsTo(addend, Kernel::Epilogue::Kind::accumulation);
  change(kernel, program.residents[known->second]);
}

void WorkloadBuilder::readGradient(Value value, Value weight) {
  auto known = gradients.find(resolve(weight));
  if (known != gradients.end())
    residents[value].push_back(known->second);
}

/// Returns the shape that counts the blocks of an optimizer state (each has a
/// scale); the last block may be shorter. If whole blocks fit into an unsplit
/// dimension, other dimensions stay as they are.
static Dims blocksOf(const KeptState &state) {
  Dims shape = state.shape;
  for (Dim &dim : shape)
    if (dim.axes.empty() && dim.extent.factor % state.block == 0) {
      dim.extent.factor /= state.block;
      return shape;
    }
  Dim blocks;
  blocks.rule = SplitRule::any;
  for (const Dim &dim : shape) {
    blocks.extent.factor *= dim.extent.factor;
    blocks.axes.insert(blocks.axes.end(), dim.axes.begin(), dim.axes.end());
  }
  blocks.extent.factor = llvm::divideCeil(blocks.extent.factor, state.block);
  if (blocks.axes.empty())
    blocks.rule = SplitRule::plain;
  return {blocks};
}

void WorkloadBuilder::addUpdate(Operation *op, Value weight,
                                ArrayRef<KeptState> states) {
  Kernel &kernel = addKernel(op, KernelKind::elementwise);
  for (Value operand : op->getOperands())
    read(kernel, operand);
  write(kernel, op->getResult(0));
  const SmallVector<size_t, 1> tensors = residents.lookup(resolve(weight));
  auto keep = [&](Dims shape, ElementType type, bool isMaster = false) {
    Resident kept =
        partnerOf(program.residents[tensors.front()], Resident::Kind::optimizer,
                  std::move(shape), type);
    kept.isMaster = isMaster;
    change(kernel, kept);
    program.residents.push_back(std::move(kept));
  };
  for (const KeptState &state : states) {
    keep(state.shape, state.type, state.isMaster);
    if (state.block != 0)
      keep(blocksOf(state), ElementType::f32);
  }
}
