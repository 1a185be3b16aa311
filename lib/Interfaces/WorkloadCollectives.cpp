//===- WorkloadCollectives.cpp --------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Interfaces/WorkloadBuilder.h"

using namespace autopar;
using namespace autopar::program;
using namespace mlir;

std::vector<AxisId> WorkloadBuilder::axes(ArrayRef<Attribute> names) {
  std::vector<AxisId> ids;
  for (Attribute name : names)
    if (!neutralAxes.contains(cast<StringAttr>(name)))
      ids.push_back(axis(cast<StringAttr>(name).getValue()));
  return ids;
}

bool WorkloadBuilder::moves(Value buffer, Value result,
                            ArrayRef<Attribute> names) {
  bool among = llvm::any_of(names, [&](Attribute name) {
    return !neutralAxes.contains(cast<StringAttr>(name));
  });
  if (!among)
    bind(result, buffer);
  return among;
}

void WorkloadBuilder::addCollective(Operation *op, CollectiveKind kind,
                                    Value buffer, ArrayRef<Attribute> names) {
  std::vector<AxisId> over = axes(names);
  openKind.reset();
  // Weights are sent in the format in which they are stored, and so are KV
  // caches.
  SmallVector<Part, 1> parts = partsOf(buffer);
  if (parts.empty()) {
    addCollective(op, kind, over, dims(buffer), formatOf(buffer));
    program.collectives.back().routed = TensorView(buffer).isSet();
    shareOut(program.collectives.back());
    return;
  }
  for (const Part &part : parts)
    addCollective(op, kind, over, part.shape,
                  program.residents[part.resident].type);
}

void WorkloadBuilder::sendAs(ElementType format, int64_t block) {
  program.collectives.back().type = format;
  program.collectives.back().block = block;
}

void WorkloadBuilder::sendByNode(NodeDispatch dispatch,
                                 ArrayRef<StringAttr> names) {
  for (StringAttr name : splitting(names))
    dispatch.axes.push_back(axis(name));
  program.collectives.back().byNode = std::move(dispatch);
}

/// Changes the shapes of `parts` to those of the devices along `names`
/// together.
void WorkloadBuilder::join(MutableArrayRef<Part> parts,
                           ArrayRef<Attribute> names) {
  std::vector<AxisId> ids = axes(names);
  for (Part &part : parts) {
    for (Dim &dim : part.shape) {
      for (AxisId id : ids)
        llvm::erase(dim.axes, id);
      if (dim.axes.empty())
        dim = {dim.extent, {}, SplitRule::plain, 1};
    }
    part.shape = *shapes.insert(part.shape).first;
  }
}

void WorkloadBuilder::addGather(Operation *op, Value buffer, Value result,
                                ArrayRef<Attribute> names) {
  size_t first = program.collectives.size();
  addCollective(op, CollectiveKind::all_gather, buffer, names);
  SmallVector<Part, 1> parts = partsOf(buffer);
  if (parts.empty() ||
      program.residents[parts.front().resident].kind != Resident::Kind::weight)
    return;
  for (const Part &part : parts)
    program.residents[part.resident].isGathered = true;
  join(parts, names);
  gathered[result] = std::move(parts);
  SmallVector<size_t, 1> all = gathers.lookup(resolve(buffer));
  for (size_t i = first; i < program.collectives.size(); ++i)
    all.push_back(i);
  gathers[result] = std::move(all);
  auto used = units.find(resolve(buffer));
  if (used != units.end())
    units[result] = WeightUnits(used->second);
}

/// Limits what a ring sends to the window of attention. A device's share of a
/// prompt is two blocks of the sequence (Llama 3, arXiv:2407.21783, section
/// 3.3.2), and other devices hold a window of tokens before each block; before
/// a single token there is one window. Of `n` devices, the first and the last
/// have a block that needs none, so that on average (n-1)/n of two windows are
/// sent: what a ring sends of a buffer of two.
void WorkloadBuilder::seeWindows(Extent &extent) {
  if (extent.limit == 0 || !extent.limitSymbols.empty())
    return;
  extent.ceiling = 2 * extent.limit;
  extent.limitSymbols = {symbol("query")};
}

void WorkloadBuilder::addRing(Operation *op, Value buffer, Value result,
                              ArrayRef<Attribute> names) {
  size_t first = program.collectives.size();
  addCollective(op, CollectiveKind::ring, buffer, names);
  for (size_t i = first; i < program.collectives.size(); ++i)
    for (Dim &dim : program.collectives[i].shape)
      seeWindows(dim.extent);
  SmallVector<Part, 1> parts = partsOf(buffer);
  join(parts, names);
  if (!parts.empty())
    turned[result] = std::move(parts);
}

/// Makes the size of a collective on routed tokens that of the most loaded
/// device, even if the buffer is split by tokens.
void WorkloadBuilder::shareOut(Collective &collective) const {
  bool shared = llvm::any_of(collective.shape, [](const Dim &dim) {
    return dim.sharedBy.has_value();
  });
  if (placed && collective.routed && !shared &&
      collective.kind == CollectiveKind::all_to_all)
    collective.sharedBy = placed;
}

void WorkloadBuilder::addCollective(Operation *op, CollectiveKind kind,
                                    std::vector<AxisId> axes, Dims shape,
                                    ElementType type) {
  extend(std::nullopt);
  Collective &collective = program.collectives.emplace_back();
  collective.name = uniqueName(op);
  collective.kind = kind;
  collective.layer = layer;
  collective.count = count;
  collective.axes = std::move(axes);
  collective.shape = std::move(shape);
  collective.type = type;
}

void WorkloadBuilder::exchangeNormalisers(Operation *op, Value y,
                                          const Dim &context) {
  if (context.axes.empty())
    return;
  addCollective(op, CollectiveKind::all_gather, context.axes, dims(y, 0, 3),
                ElementType::f32);
  openKind.reset();
}

void WorkloadBuilder::exchangeOverLast(Operation *op, Value x) {
  unsigned last = TensorView(x).rank() - 1;
  std::vector<AxisId> over = dims(x, last, last + 1).front().axes;
  if (over.empty())
    return;
  addCollective(op, CollectiveKind::all_reduce, std::move(over),
                dims(x, 0, last), ElementType::f32);
  openKind.reset();
}
