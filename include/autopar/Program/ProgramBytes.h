//===- ProgramBytes.h - Cost programs in caches -----------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_PROGRAM_PROGRAMBYTES_H
#define AUTOPAR_PROGRAM_PROGRAMBYTES_H

#include "autopar/Program/CostProgram.h"
#include "autopar/Support/Bytes.h"

namespace autopar::program {

// These functions serialise and read cost programs with Bytes.h. Placed experts
// are stored without their loads.

template <typename IO>
void bytesOf(IO &io, Extent &extent) {
  io(extent.factor, extent.symbols, extent.limit, extent.limitSymbols,
     extent.ceiling);
}
template <typename IO>
void bytesOf(IO &io, Dim &dim) {
  io(dim.extent, dim.axes, dim.rule, dim.multiple, dim.sharedBy, dim.limitedBy);
}
template <typename IO>
void bytesOf(IO &io, Pairs &pairs) {
  io(pairs.query, pairs.context, pairs.causal, pairs.window, pairs.chunk);
}
template <typename IO>
void bytesOf(IO &io, Traffic &traffic) {
  io(traffic.role, traffic.write, traffic.shape, traffic.type, traffic.value,
     traffic.topK, traffic.rows);
}
template <typename IO>
void bytesOf(IO &io, Kernel::Epilogue &epilogue) {
  io(epilogue.kind, epilogue.product);
}
template <typename IO>
void bytesOf(IO &io, Kernel::Heads &heads) {
  io(heads.ofKeys, heads.width);
}
template <typename IO>
void bytesOf(IO &io, Kernel &kernel) {
  io(kernel.name, kernel.op, kernel.layer, kernel.count, kernel.kind,
     kernel.flopClass, kernel.compute, kernel.storage, kernel.flopFactor,
     kernel.rows, kernel.columns, kernel.contraction, kernel.pairs,
     kernel.heads, kernel.traffic, kernel.routed, kernel.mixesTokens,
     kernel.besideExperts, kernel.ofWeights, kernel.epilogue, kernel.phase,
     kernel.fusionGroup);
}
template <typename IO>
void bytesOf(IO &io, Border &border) {
  io(border.before, border.after, border.count, border.layer, border.values);
}
template <typename IO>
void bytesOf(IO &io, NodeDispatch &dispatch) {
  io(dispatch.topK, dispatch.experts, dispatch.groups, dispatch.kept,
     dispatch.axes, dispatch.inNode);
}
template <typename IO>
void bytesOf(IO &io, Collective &call) {
  io(call.name, call.kind, call.layer, call.count, call.axes, call.shape,
     call.type, call.block, call.routed, call.ofWeights, call.ofInputs,
     call.byNode, call.sharedBy, call.readers);
}
template <typename IO>
void bytesOf(IO &io, Resident &resident) {
  io(resident.name, resident.kind, resident.layer, resident.count,
     resident.shape, resident.type, resident.topK, resident.pagedDim,
     resident.stored, resident.values, resident.isMaster, resident.isGathered,
     resident.user, resident.readers);
}
template <typename IO>
void bytesOf(IO &io, Activation &activation) {
  io(activation.name, activation.layer, activation.shape, activation.type,
     activation.begin, activation.end, activation.routed, activation.chunks);
}
template <typename IO>
void bytesOf(IO &io, Saved &saved) {
  io(saved.name, saved.layer, saved.count, saved.shape, saved.type,
     saved.chunks);
}
template <typename IO>
void bytesOf(IO &io, ExpertGroups &groups) {
  io(groups.all, groups.kept);
}
template <typename IO>
void bytesOf(IO &io, LayerKind &kind) {
  io(kind.name, kind.count, kind.begin, kind.end, kind.section,
     kind.expertGroups);
}
template <typename IO>
void bytesOf(IO &io, KindCount &kind) {
  io(kind.layer, kind.count);
}
template <typename IO>
void bytesOf(IO &io, LayerStack::Layer::Input &input) {
  io(input.shape, input.type);
}
template <typename IO>
void bytesOf(IO &io, LayerStack::Layer &layer) {
  io(layer.kinds, layer.ends.head, layer.ends.tail, layer.inputs);
}
template <typename IO>
void bytesOf(IO &io, LayerStack::Run &run) {
  io(run.count, run.layers);
}
template <typename IO>
void bytesOf(IO &io, LayerStack &stack) {
  io(stack.layers, stack.runs, stack.before, stack.after, stack.tailBefore,
     stack.headAfter, stack.inputs, stack.outputs);
}
template <typename IO>
void bytesOf(IO &io, Positions &positions) {
  io(positions.longest, positions.areLearned, positions.scaling);
}
template <typename IO>
void bytesOf(IO &io, ExpertCapacity &capacity) {
  io(capacity.millionths, capacity.padded, capacity.experts, capacity.topK,
     capacity.tokens);
}
template <typename IO>
void bytesOf(IO &io, PlacedExperts::Layer &layer) {
  io(layer.kind, layer.loads.layer);
}
template <typename IO>
void bytesOf(IO &io, PlacedExperts &placed) {
  io(placed.axes, placed.experts, placed.slots, placed.groups, placed.layers);
}
template <typename IO>
void bytesOf(IO &io, CostProgram &program) {
  io(program.model, program.positions, program.castFrom, program.symbols,
     program.axes, program.layers, program.stack, program.kernels,
     program.borders, program.collectives, program.residents,
     program.activations, program.saved, program.capacity);
}

} // namespace autopar::program

#endif // AUTOPAR_PROGRAM_PROGRAMBYTES_H
