//===- CompiledProgram.cpp ------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Cost/CompiledProgram.h"

#include "autopar/Cost/StagePricer.h"
#include "autopar/Program/ProgramBytes.h"

using namespace autopar;
using namespace autopar::cost;
using namespace autopar::placement;
using namespace autopar::program;

/// Returns the nodes of the members of `StepOutput`, in the order of these
/// members.
static std::vector<NodeId> stepNodes(Strategy &strategy) {
  const TotalNodes &total = strategy.total;
  Graph &graph = strategy.graph;
  NodeId kept =
      graph.make(Op::add, total.weightBytes,
                 graph.make(Op::add, total.kvCacheBytes, total.stateBytes));
  return {total.stepPs,      total.communicationPs,  total.totalBytes,
          total.fits,        total.kvCapacityTokens, kept,
          total.runtimeBytes};
}

/// Returns the nodes of the members of `ServingOutput`, in the order of these
/// members.
static std::vector<NodeId> servingNodes(Strategy &strategy) {
  const TotalNodes &total = strategy.total;
  NodeId host = strategy.graph.make(Op::add, total.hostPs, total.layersPs);
  return {total.stepPs, host, total.communicationPs, total.kvCapacityTokens,
          total.flops};
}

CompiledProgram::CompiledProgram(CostProgram program, Launching launching)
    : launches(launching), axisNames(program.axes), whole(std::move(program)),
      placement(whole->placement) {
  Strategy strategy = compile(*whole, launching, Counting::whole);
  stepTape = collect(strategy, stepNodes(strategy));
}

const Tape &CompiledProgram::serving() {
  std::lock_guard<std::mutex> lock(*making);
  if (!servingTape) {
    Strategy strategy = compile(read(), launches, Counting::whole,
                                {Phase::decode, Phase::prefill});
    servingTape = collect(strategy, servingNodes(strategy));
    stored = false;
  }
  return *servingTape;
}

const Tape &CompiledProgram::parts() {
  std::lock_guard<std::mutex> lock(*making);
  if (!partTape) {
    partTape = collectParts(compile(read(), launches, Counting::parts));
    stored = false;
  }
  return *partTape;
}

void CompiledProgram::setLoads(std::shared_ptr<ExpertPlacer> placer) {
  if (!placement)
    return;
  auto placed = std::make_shared<PlacedExperts>(*placement);
  placed->options = placer->options();
  placed->placer = std::move(placer);
  placement = std::move(placed);
  stepTape.placement = placement;
  for (std::optional<Tape> *tape : {&servingTape, &partTape})
    if (*tape)
      (*tape)->placement = placement;
  if (whole)
    whole->placement = placement;
}

//===----------------------------------------------------------------------===//
// Compiled programs as bytes
//===----------------------------------------------------------------------===//

namespace autopar::cost {
template <typename IO>
static void bytesOf(IO &io, Instruction &step) {
  io(step.op, step.out, step.a, step.b, step.c);
}
template <typename IO>
static void bytesOf(IO &io, TapeInput &input) {
  io(input.op, input.index, input.slot);
}
template <typename IO>
static void bytesOf(IO &io, TapeCheck &check) {
  io(check.kind, check.rank, check.extent, check.devices, check.index,
     check.requirement);
}
template <typename IO>
static void bytesOf(IO &io, PairsRule &rule) {
  io(rule.causal, rule.window, rule.chunk);
}
template <typename IO>
static void bytesOf(IO &io, FigureUse &use) {
  io(use.kind, use.kernel, use.type, use.storage);
}
template <typename IO>
static void bytesOf(IO &io, LinkUse &link) {
  io(link.kind, link.axes, link.byNode);
}
template <typename IO>
static void bytesOf(IO &io, ShapeUse &use) {
  io(use.kind, use.kernel, use.type, use.storage, use.fixed);
}
template <typename IO>
static void bytesOf(IO &io, Tape &tape) {
  io(tape.figures, tape.links, tape.shapes, tape.rates, tape.pairs,
     tape.constants, tape.checks, tape.outputs, tape.slots);
  for (size_t rank = 0; rank < tape.code.size(); ++rank)
    io(tape.code[rank], tape.inputs[rank]);
}
} // namespace autopar::cost

std::string CompiledProgram::toBytes() const {
  ByteWriter writer, last;
  writer(launches, axisNames, stepTape, servingTape, partTape,
         placement ? std::optional(*placement) : std::nullopt);
  if (whole)
    last(*whole);
  writer.bytes += whole ? last.bytes : unread;
  return std::move(writer.bytes);
}

std::optional<CompiledProgram>
CompiledProgram::fromBytes(std::string_view bytes) {
  CompiledProgram compiled;
  ByteReader reader(bytes);
  std::optional<PlacedExperts> placed;
  reader(compiled.launches, compiled.axisNames, compiled.stepTape,
         compiled.servingTape, compiled.partTape, placed);
  if (reader.failed)
    return std::nullopt;
  if (placed)
    compiled.placement = std::make_shared<PlacedExperts>(std::move(*placed));
  compiled.unread = reader.rest();
  compiled.stored = true;
  return compiled;
}

const CostProgram &CompiledProgram::program() {
  std::lock_guard<std::mutex> lock(*making);
  return read();
}

const CostProgram &CompiledProgram::read() {
  if (!whole) {
    ByteReader reader(unread);
    reader(whole.emplace());
    whole->placement = placement;
  }
  return *whole;
}
