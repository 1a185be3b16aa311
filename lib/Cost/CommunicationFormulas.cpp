//===- CommunicationFormulas.cpp - Bytes and calls of collectives ---------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Formulas.h"

#include "autopar/Hardware/Algorithm.h"

using namespace autopar;
using namespace autopar::cost;
using namespace autopar::hardware;
using namespace autopar::program;

/// Returns the expression of `hardware::wireBytes`: the bytes that a device
/// sends in a collective over `group` devices, rounded up to whole bytes.
static Expr wireBytes(CollectiveKind kind, Expr group, Expr bytes) {
  const Algorithm &rule = ruleOf(kind);
  if (rule.rounds > 1)
    bytes = bytes * rule.rounds;
  Expr others = group - group.number(1);
  switch (rule.sent) {
  case Algorithm::Sent::all:
    return bytes;
  case Algorithm::Sent::others:
    return bytes.apply(Op::scale, others, group);
  case Algorithm::Sent::to_each:
    return bytes * others;
  }
  return bytes;
}

/// Returns the bytes that a device sends per call if each token goes to a node
/// only once: the expected copies of tokens, over all tiers of the network.
static Expr wireBytesByNode(Formulas &formulas, const CollectiveNodes &nodes,
                            Expr bytes) {
  Expr sent = formulas.sent(nodes.link);
  Expr others(formulas.graph, nodes.wireBytes);
  return select(sent, bytes.apply(Op::scale, sent, formulas.number(wholeSent)),
                others);
}

/// Returns the bytes of a buffer of `elements` values and of their quantisation
/// scales.
static Expr bytesOf(Formulas &formulas, const Collective &record,
                    Expr elements) {
  Expr bytes = formulas.bytes(elements, record.type);
  if (record.block == 0)
    return bytes;
  Expr scales = ceilDiv(elements, formulas.number(record.block));
  return bytes + formulas.bytes(scales, ElementType::f32);
}

/// Adds the formulas of a collective. Its bytes are those of the full logical
/// buffer of one call: the result of an all_gather, all parts of a ring, or the
/// input of one rank for other kinds.
static void addCollective(Formulas &formulas, uint32_t index) {
  const Collective &record = formulas.program.collectives[index];
  CollectiveNodes &nodes = formulas.strategy.collectives.emplace_back();
  RecordRef ref{RecordRef::Kind::collective, index};
  NodeId none = formulas.number(0).node();
  nodes = {none, none, none, none, none, none, 0};
  if (record.count == 0)
    return;
  Expr count = formulas.countOf(record);
  Expr group = formulas.devices(record.axes);
  Expr elements =
      formulas.mostLoaded(formulas.local(record.shape, ref), record.sharedBy);
  Expr bytes = bytesOf(formulas, record, elements);
  if (record.kind == CollectiveKind::all_gather ||
      record.kind == CollectiveKind::ring)
    bytes *= group;
  nodes.link = formulas.link(record);
  Expr zero = formulas.number(0);
  Expr call = formulas.call(Op::call, bytes, nodes.link);
  Expr bound = formulas.call(Op::call_bound, bytes, nodes.link);
  formulas.require({Requirement::Kind::joins, ref, (count * bytes).node(),
                    noNode, nodes.link});
  nodes.count = count.node();
  nodes.groupSize = group.node();
  nodes.bytes = bytes.node();
  nodes.wireBytes = wireBytes(record.kind, group, bytes).node();
  if (record.byNode)
    nodes.wireBytes = wireBytesByNode(formulas, nodes, bytes).node();
  nodes.timePs = select(bytes, call, zero).node();
  nodes.boundUs = select(bytes, bound, zero).node();
}

void autopar::cost::addCommunicationFormulas(Formulas &formulas) {
  auto node = [&](NodeId id) { return Expr(formulas.graph, id); };
  SectionSums time(formulas), dispatch = time, inputs = time, gathers = time,
                              reductions = time, wire = time;
  for (uint32_t i = 0; i < formulas.program.collectives.size(); ++i) {
    addCollective(formulas, i);
    const CollectiveNodes &nodes = formulas.strategy.collectives.back();
    // A permute within one device sends nothing, like every collective of one
    // device.
    Expr sends = above(node(nodes.groupSize), formulas.number(1));
    const Collective &record = formulas.program.collectives[i];
    SectionSums &kind = record.routed       ? dispatch
                        : record.ofInputs   ? inputs
                        : !record.ofWeights ? time
                        : record.kind == CollectiveKind::all_gather
                            ? gathers
                            : reductions;
    kind.of(record.layer) += node(nodes.count) * node(nodes.timePs);
    wire.of(record.layer) += node(nodes.count) * node(nodes.wireBytes) * sends;
  }
  time.store(&SectionNodes::communicationPs);
  dispatch.store(&SectionNodes::dispatchPs);
  inputs.store(&SectionNodes::inputPs);
  gathers.store(&SectionNodes::gatherPs);
  reductions.store(&SectionNodes::reductionPs);
  TotalNodes &total = formulas.strategy.total;
  total.communicationPs =
      (time + dispatch + inputs + gathers + reductions).ofStep().node();
  total.wireBytes = wire.ofStep().node();
}
