//===- ProgramJson.cpp ----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Program/CostProgram.h"

#include "autopar/Support/Text.h"

#include <nlohmann/json.hpp>

using namespace autopar;
using namespace autopar::placement;
using namespace autopar::program;
using json = nlohmann::ordered_json;

namespace {

/// Writes the records of one program, with the program's names.
class Writer {
public:
  explicit Writer(const CostProgram &program) : program(program) {}

  json write() const;

private:
  const std::string &layer(uint32_t id) const {
    return program.layers[id].name;
  }
  std::string text(int64_t factor, const std::vector<SymbolId> &symbols) const;
  std::string text(const Extent &extent) const;
  std::string text(const Dim &dim) const;
  std::string text(const Dims &dims) const;
  json write(const Traffic &traffic) const;
  json write(const Kernel &kernel) const;
  json write(const Border &border) const;
  json write(const Collective &collective) const;
  json write(const Resident &resident) const;
  json write(const Activation &activation) const;
  json write(const Saved &saved) const;
  json write(const PlacedExperts &placement) const;
  json write(const LayerStack::Run &run) const;
  template <typename T>
  json writeAll(const std::vector<T> &records) const {
    json all = json::array();
    for (const T &record : records)
      all.push_back(write(record));
    return all;
  }

  const CostProgram &program;
};

} // namespace

std::string Writer::text(int64_t factor,
                         const std::vector<SymbolId> &symbols) const {
  std::string product;
  for (SymbolId symbol : symbols)
    product += (product.empty() ? "" : "*") + program.symbols[symbol];
  if (product.empty() || factor != 1)
    product += (product.empty() ? "" : "*") + std::to_string(factor);
  return product;
}

/// Returns the text of an extent: "8192", "batch*query*8", "min(context,
/// 4096)", "min(context, query*4096, 8192)".
std::string Writer::text(const Extent &extent) const {
  std::string product = text(extent.factor, extent.symbols);
  if (extent.limit == 0)
    return product;
  product += ", " + text(extent.limit, extent.limitSymbols);
  if (extent.ceiling != 0)
    product += ", " + std::to_string(extent.ceiling);
  return "min(" + product + ")";
}

/// Returns the text of a dimension as the IR prints it: "128256 by tp pad 64",
/// "batch by dpo*dpi any".
std::string Writer::text(const Dim &dim) const {
  std::string result = text(dim.extent);
  if (dim.limitedBy)
    result += " limited by the experts of " + layer(*dim.limitedBy);
  if (dim.axes.empty())
    return result;
  std::string axes;
  for (AxisId axis : dim.axes)
    axes += (axes.empty() ? "" : "*") + program.axes[axis];
  result += " by " + axes;
  if (dim.rule != SplitRule::plain)
    result += " " + std::string(nameOf(dim.rule));
  if (dim.rule == SplitRule::pad)
    result += " " + std::to_string(dim.multiple);
  if (dim.sharedBy)
    result += " shared by the experts of " + layer(*dim.sharedBy);
  return result;
}

/// Returns the text of a shape: "[batch, query, 64 by tp, 128]".
std::string Writer::text(const Dims &dims) const {
  std::vector<std::string> parts;
  for (const Dim &dim : dims)
    parts.push_back(text(dim));
  return "[" + join(parts, ", ") + "]";
}

json Writer::write(const Traffic &traffic) const {
  json record;
  record["role"] = nameOf(traffic.role);
  record["access"] = traffic.write ? "write" : "read";
  record["shape"] = text(traffic.shape);
  record["type"] = nameOf(traffic.type);
  if (traffic.value)
    record["value"] = traffic.value;
  if (traffic.topK) {
    record["top_k"] = traffic.topK;
    record["rows"] = text(traffic.rows);
  }
  return record;
}

json Writer::write(const Kernel &kernel) const {
  json record;
  record["name"] = kernel.name;
  record["op"] = kernel.op;
  record["layer"] = layer(kernel.layer);
  record["count"] = kernel.count;
  record["kind"] = nameOf(kernel.kind);
  record["fusion_group"] = kernel.fusionGroup;
  if (kernel.routed)
    record["routed"] = true;
  if (kernel.mixesTokens)
    record["mixes_tokens"] = true;
  if (kernel.besideExperts)
    record["beside_experts"] = true;
  if (kernel.ofWeights)
    record["of_weights"] = true;
  if (kernel.epilogue)
    record["epilogue_of"] = program.kernels[kernel.epilogue->product].name;
  if (kernel.phase)
    record["phase"] = nameOf(*kernel.phase);
  if (kernel.flopFactor) {
    record["flop_class"] = nameOf(kernel.flopClass);
    record["compute"] = nameOf(kernel.compute);
    if (kernel.storage)
      record["storage"] = nameOf(*kernel.storage);
    record["flop_factor"] = kernel.flopFactor;
    record["rows"] = text(kernel.rows);
    record["columns"] = text(kernel.columns);
    record["contraction"] = text(kernel.contraction);
  }
  if (kernel.pairs)
    record["pairs"] = {{"query", text(kernel.pairs->query)},
                       {"context", text(kernel.pairs->context)},
                       {"causal", kernel.pairs->causal},
                       {"window", kernel.pairs->window}};
  if (kernel.pairs && kernel.pairs->chunk)
    record["pairs"]["chunk"] = kernel.pairs->chunk;
  if (kernel.heads)
    record["key_heads"] = text(kernel.heads->ofKeys);
  record["traffic"] = writeAll(kernel.traffic);
  return record;
}

json Writer::write(const Border &border) const {
  json record;
  record["before"] = program.kernels[border.before].name;
  record["after"] = program.kernels[border.after].name;
  record["count"] = border.count;
  return record;
}

json Writer::write(const Collective &collective) const {
  json axes = json::array();
  for (AxisId axis : collective.axes)
    axes.push_back(program.axes[axis]);
  json record;
  record["name"] = collective.name;
  record["kind"] = nameOf(collective.kind);
  record["layer"] = layer(collective.layer);
  record["count"] = collective.count;
  record["axes"] = std::move(axes);
  record["shape"] = text(collective.shape);
  record["type"] = nameOf(collective.type);
  if (collective.block)
    record["scale_block"] = collective.block;
  if (collective.routed)
    record["routed"] = true;
  if (collective.ofWeights)
    record["of_weights"] = true;
  if (collective.ofInputs)
    record["of_inputs"] = true;
  if (const auto &dispatch = collective.byNode) {
    json shared = json::array();
    for (AxisId axis : dispatch->axes)
      shared.push_back(program.axes[axis]);
    record["by_node"] = {{"top_k", dispatch->topK},
                         {"experts", dispatch->experts},
                         {"groups", dispatch->groups},
                         {"kept_groups", dispatch->kept},
                         {"axes", std::move(shared)}};
    if (dispatch->inNode)
      record["by_node"]["in_node"] = true;
  }
  if (collective.sharedBy)
    record["shared_by"] = layer(*collective.sharedBy);
  return record;
}

json Writer::write(const Resident &resident) const {
  json record;
  record["name"] = resident.name;
  record["kind"] = nameOf(resident.kind);
  record["layer"] = layer(resident.layer);
  record["count"] = resident.count;
  record["shape"] = text(resident.shape);
  record["type"] = nameOf(resident.type);
  if (resident.topK)
    record["top_k"] = resident.topK;
  if (resident.pagedDim >= 0)
    record["paged_dim"] = resident.pagedDim;
  if (resident.stored)
    record["stored"] = true;
  if (resident.isMaster)
    record["master"] = true;
  if (resident.isGathered)
    record["gathered"] = true;
  if (resident.values)
    record["values"] = text(*resident.values);
  return record;
}

json Writer::write(const Activation &activation) const {
  json record;
  record["name"] = activation.name;
  record["layer"] = layer(activation.layer);
  record["shape"] = text(activation.shape);
  record["type"] = nameOf(activation.type);
  record["begin"] = activation.begin;
  record["end"] = activation.end;
  if (activation.routed)
    record["routed"] = true;
  if (activation.chunks > 1)
    record["chunks"] = activation.chunks;
  return record;
}

json Writer::write(const Saved &saved) const {
  json record;
  record["name"] = saved.name;
  record["layer"] = layer(saved.layer);
  record["count"] = saved.count;
  record["shape"] = text(saved.shape);
  record["type"] = nameOf(saved.type);
  if (saved.chunks > 1)
    record["chunks"] = saved.chunks;
  return record;
}

/// Writes a placement without its tables, which are long and are in the IR.
json Writer::write(const PlacedExperts &placement) const {
  json axes = json::array(), layers = json::array();
  for (AxisId axis : placement.axes)
    axes.push_back(program.axes[axis]);
  for (const PlacedExperts::Layer &placed : placement.layers)
    layers.push_back(
        {{"layer", placed.loads.layer}, {"kind", layer(placed.kind)}});
  json record;
  record["axes"] = std::move(axes);
  record["policy"] = nameOf(placement.options.policy);
  record["experts"] = placement.experts;
  record["slots"] = placement.slots;
  record["layers"] = std::move(layers);
  return record;
}

json Writer::write(const LayerStack::Run &run) const {
  json layers = json::array();
  for (auto [index, times] : run.layers) {
    json kinds = json::object(), inputs = json::array();
    for (const KindCount &kind : program.stack.layers[index].kinds)
      kinds[layer(kind.layer)] = kind.count;
    for (const auto &input : program.stack.layers[index].inputs)
      inputs.push_back(text(input.shape) + " " +
                       std::string(nameOf(input.type)));
    layers.push_back({{"count", times}, {"kinds", kinds}, {"inputs", inputs}});
  }
  return {{"count", run.count}, {"layers", std::move(layers)}};
}

json Writer::write() const {
  json layers = json::array();
  for (const LayerKind &kind : program.layers) {
    layers.push_back({{"name", kind.name}, {"count", kind.count}});
    if (kind.section != Section::forward)
      layers.back()["section"] = nameOf(kind.section);
    if (kind.expertGroups.all > 1)
      layers.back()["expert_groups"] = {{"all", kind.expertGroups.all},
                                        {"kept", kind.expertGroups.kept}};
  }
  json root;
  root["schema"] = "autopar.program/1";
  root["model"] = program.model;
  if (program.positions.longest != 0)
    root["positions"] = {{"longest", program.positions.longest},
                         {"learned", program.positions.areLearned},
                         {"scaling", program.positions.scaling}};
  if (program.castFrom)
    root["cast_from"] = nameOf(*program.castFrom);
  root["symbols"] = program.symbols;
  root["axes"] = program.axes;
  root["layers"] = std::move(layers);
  root["stack"] = writeAll(program.stack.runs);
  root["kernels"] = writeAll(program.kernels);
  root["borders"] = writeAll(program.borders);
  root["collectives"] = writeAll(program.collectives);
  root["residents"] = writeAll(program.residents);
  root["activations"] = writeAll(program.activations);
  if (!program.saved.empty())
    root["saved"] = writeAll(program.saved);
  if (const auto &capacity = program.capacity)
    root["capacity"] = {{"factor", capacity->factor()},
                        {"padded", capacity->padded},
                        {"experts", capacity->experts},
                        {"top_k", capacity->topK},
                        {"tokens", text(capacity->tokens)}};
  if (program.placement)
    root["placement"] = write(*program.placement);
  return root;
}

std::string autopar::program::toJson(const CostProgram &program) {
  return Writer(program).write().dump(2, ' ', false,
                                      json::error_handler_t::replace) +
         "\n";
}
