//===- Inputs.cpp ---------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Inputs.h"

#include <cctype>
#include <cmath>

using namespace autopar;
using namespace autopar::cost;
using namespace autopar::evaluation;
using namespace autopar::hardware;
using namespace autopar::placement;
using namespace autopar::plan;
using namespace autopar::program;
using namespace autopar::schedule;
using namespace autopar::spreadsheet;

/// The number that stands for infinity in cells: if a unit is missing, its work
/// takes no time.
static constexpr double unlimited = 1e300;

static constexpr const char *ofWorkload = "Workload", *ofMesh = "Mesh",
                            *ofChip = "Chip", *ofRuntime = "Runtime",
                            *ofCurves = "Curves of kernels",
                            *ofLayout = "Given by the layout and the loads";

/// Returns a legal name of a cell, of letters, digits and underscores.
static std::string identifier(const std::string &text) {
  std::string name;
  for (char c : text)
    name += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return name;
}

std::string Inputs::add(const char *section, const std::string &key, Row row) {
  auto [entry, isNew] = known.emplace(key, "");
  if (!isNew)
    return entry->second;
  std::string base = identifier(row.name);
  row.name = base;
  for (int i = 2; !taken.insert(row.name).second; ++i)
    row.name = base + "_" + std::to_string(i);
  if (!std::isfinite(row.value)) {
    row.value = unlimited;
    row.source = "no limit";
  }
  entry->second = row.name;
  sections[section].push_back(std::move(row));
  return entry->second;
}

//===----------------------------------------------------------------------===//
// Cells of figures
//===----------------------------------------------------------------------===//

namespace {
struct KindName {
  FigureUse::Kind kind;
  const char *name;
};
} // namespace

/// Names of figures with their units, as in the files of hardware and runtimes.
static constexpr KindName kindNames[] = {
    {FigureUse::Kind::memory_bandwidth, "memory_bandwidth_bytes_per_s"},
    {FigureUse::Kind::memory_usable, "memory_usable_bytes"},
    {FigureUse::Kind::peak, "peak_flops_per_s"},
    {FigureUse::Kind::sustained_compute, "sustained_compute"},
    {FigureUse::Kind::curve_floor, "floor_us"},
    {FigureUse::Kind::compute_efficiency, "compute_efficiency"},
    {FigureUse::Kind::memory_efficiency, "memory_efficiency"},
    {FigureUse::Kind::exponent, "exponent"},
    {FigureUse::Kind::tile_queries, "tile_queries"},
    {FigureUse::Kind::tile_slots, "tile_slots"},
    {FigureUse::Kind::tile_keys, "tile_keys"},
    {FigureUse::Kind::tile_split_slots, "tile_split_slots"},
    {FigureUse::Kind::kernel_floor, "kernel_floor_us"},
    {FigureUse::Kind::host_time, "host_time_us"},
    {FigureUse::Kind::host_time_per_layer, "host_time_per_layer_us"},
    {FigureUse::Kind::host_time_per_sequence, "host_time_per_sequence_us"},
    {FigureUse::Kind::overlaps_shared_experts, "overlaps_shared_experts"},
    {FigureUse::Kind::routing_skew, "routing_skew"},
    {FigureUse::Kind::context_bytes, "context_bytes"},
    {FigureUse::Kind::library_bytes, "library_bytes"},
    {FigureUse::Kind::graph_bytes, "graph_bytes"},
    {FigureUse::Kind::graph_bytes_each, "graph_bytes_each"},
    {FigureUse::Kind::graphs, "graphs_captured"},
    {FigureUse::Kind::whole_graphs, "whole_graphs_captured"},
    {FigureUse::Kind::graph_bytes_per_recurrent_graph,
     "graph_bytes_per_recurrent_graph"},
    {FigureUse::Kind::communication_bytes, "communication_bytes"},
    {FigureUse::Kind::communication_bytes_per_peer,
     "communication_bytes_per_peer"},
    {FigureUse::Kind::memory_utilization, "memory_utilization"},
    {FigureUse::Kind::memory_of_free, "memory_is_share_of_free"},
    {FigureUse::Kind::memory_of_reserve, "memory_is_for_reserve"},
    {FigureUse::Kind::reserve_by_rule, "reserve_is_by_rule"},
    {FigureUse::Kind::reserve_bytes, "reserve_bytes"},
    {FigureUse::Kind::reserve_bytes_per_token, "reserve_bytes_per_token"},
    {FigureUse::Kind::reserve_bytes_per_peer, "reserve_bytes_per_peer"},
    {FigureUse::Kind::reserve_least, "reserve_least_bytes"},
    {FigureUse::Kind::reserve_bytes_per_graph_sequence,
     "reserve_bytes_per_graph_sequence"},
    {FigureUse::Kind::graph_sequences, "graph_sequences"},
    {FigureUse::Kind::expert_hidden_multiple, "expert_hidden_multiple"},
    {FigureUse::Kind::expert_intermediate_multiple,
     "expert_intermediate_multiple"},
    {FigureUse::Kind::expert_contraction_multiple,
     "expert_contraction_multiple"},
    {FigureUse::Kind::token_budget, "token_budget"},
    {FigureUse::Kind::kv_block_tokens, "kv_block_tokens"},
    {FigureUse::Kind::profile_tokens, "profile_tokens"},
    {FigureUse::Kind::profile_sequences, "profile_sequences"},
    {FigureUse::Kind::profile_hidden_states, "profile_hidden_states"},
    {FigureUse::Kind::sampler_bytes_per_logit, "sampler_bytes_per_logit"},
    {FigureUse::Kind::keeps_expert_workspace, "keeps_expert_workspace"},
    {FigureUse::Kind::reduction_bucket, "reduction_bucket"},
    {FigureUse::Kind::copies_gradients, "copies_gradients"},
    {FigureUse::Kind::casts_gathered_weights, "casts_gathered_weights"},
};

static std::string nameOf(FigureUse::Kind kind) {
  for (const KindName &one : kindNames)
    if (one.kind == kind)
      return one.name;
  return "figure";
}

std::string Inputs::figure(const Figure &figure, const std::string &name,
                           const char *section) {
  return add(section, figure.path,
             {name, figure.value, figure.source.str(),
              "--set=" + figure.path + "=.."});
}

/// Returns the name of a curve by its path: "matmul_bf16" for
/// "chips.h100-sxm.kernels.matmul.bf16".
static std::string curveName(const std::string &path) {
  constexpr std::string_view before = ".kernels.";
  size_t at = path.find(before);
  return at == std::string::npos ? path : path.substr(at + before.size());
}

std::string Inputs::ofUse(uint32_t index) {
  const FigureUse &use = step.strategy.figures[index];
  const BoundFigure &bound = step.values.figures()[index];
  std::string name = ::nameOf(use.kind);
  if (bound.curve) {
    std::string path = bound.curve->path + "." + name;
    return add(ofCurves, path,
               {curveName(bound.curve->path) + "_" + name, bound.value,
                bound.curve->source.str(), ""});
  }
  if (bound.figure) {
    bool isChips = bound.figure->path.compare(0, 6, "chips.") == 0;
    if (use.kind == FigureUse::Kind::peak)
      name = bound.figure->path.substr(bound.figure->path.rfind('.') + 1) +
             "_" + name;
    return figure(*bound.figure, name, isChips ? ofChip : ofRuntime);
  }
  bool isOfKernel = use.kind == FigureUse::Kind::peak || use.isOfCurve();
  std::string kernel;
  if (isOfKernel)
    kernel = std::string(program::nameOf(use.kernel)) + "_" +
             std::string(autopar::nameOf(use.type)) + "_";
  return add(isOfKernel ? ofCurves : ofRuntime, "use " + std::to_string(index),
             {kernel + name, bound.value,
              isOfKernel ? "no curve: at peak" : "a rule, or of the plan", ""});
}

Inputs::TierNames Inputs::tier(const Tier &tier) {
  auto add = [&](const Figure &one, const char *what) {
    return figure(one, tier.name + "_" + what, "Links");
  };
  return {add(tier.bandwidth, "bandwidth_bytes_per_s"),
          add(tier.efficiency, "efficiency"), add(tier.latency, "latency_us")};
}

//===----------------------------------------------------------------------===//
// Cells of the workload and the layout
//===----------------------------------------------------------------------===//

std::string Inputs::symbol(Symbol symbol) {
  const Workload &workload = step.workload;
  switch (symbol) {
  case Symbol::batch:
    return add(ofWorkload, "batch",
               {"workload_batch", double(workload.batch), "", "--batch"});
  case Symbol::query:
    return add(
        ofWorkload, "query",
        {"workload_query_tokens", double(workload.query), "", "--prompt"});
  case Symbol::context:
    return add(
        ofWorkload, "context",
        {"workload_context_tokens", double(workload.context), "", "--context"});
  case Symbol::source:
    return add(ofWorkload, "source",
               {"workload_encoder_tokens", double(workload.encoderTokens), "",
                "--encoder-tokens"});
  case Symbol::memory:
    return add(ofWorkload, "memory",
               {"workload_cross_tokens", double(workload.crossTokens), "",
                "--cross-tokens"});
  }
  return "";
}

static const char *nameOf(Op op) {
  switch (op) {
  case Op::stages:
    return "pipeline_stages";
  case Op::skew:
    return "hottest_device_millionths";
  case Op::peak_skew:
    return "hottest_device_of_worst_layer_millionths";
  case Op::kept:
    return "kept_tokens_millionths";
  case Op::sent:
    return "sent_by_node_millionths";
  case Op::passes:
    return "step_passes";
  case Op::microbatches:
    return "step_microbatches";
  default:
    return "layout_value";
  }
}

/// Returns the name of the cell of a number that follows from the layout, but
/// by no formula of the graph.
std::string Inputs::layoutLeaf(const Node &node, double value) {
  std::string name = ::nameOf(node.op);
  std::string key = name + " " + std::to_string(node.a);
  bool hasIndex = node.op == Op::skew || node.op == Op::peak_skew ||
                  node.op == Op::kept || node.op == Op::sent;
  if (hasIndex)
    name += "_" + std::to_string(node.a);
  return add(ofLayout, key, {name, value, "of this layout and its loads", ""});
}

std::string Inputs::leaf(NodeId id) {
  const Node &node = step.strategy.graph[id];
  switch (node.op) {
  case Op::figure:
    return ofUse(node.a);
  case Op::symbol:
    return symbol(static_cast<Symbol>(node.a % symbolCount));
  case Op::axis: {
    const std::string &axis = step.program.axes[node.a];
    return add(ofMesh, "axis " + axis,
               {"axis_" + axis,
                static_cast<double>(step.layout.axes[node.a].size),
                "the plan: routes and shapes stay those of this size", ""});
  }
  default:
    return layoutLeaf(node, step.values.real(id));
  }
}

//===----------------------------------------------------------------------===//
// Writing the sheet of inputs
//===----------------------------------------------------------------------===//

void Inputs::write(Book &book) const {
  Sheet sheet{"Inputs", {44, 22, 70, 50}};
  sheet.title("Inputs: change a coloured cell, and all sheets follow");
  sheet.note("Units are in the names. What follows from them in the program "
             "and not in a formula stays as it is: routes of collectives, "
             "tables of shapes, chunks of prompts, searches.");
  sheet.header({"name", "value", "source", "as a flag"});
  for (const char *section :
       {ofWorkload, ofMesh, ofChip, "Links", ofRuntime, ofCurves, ofLayout}) {
    auto found = sections.find(section);
    if (found == sections.end())
      continue;
    sheet.title(section);
    for (const Row &row : found->second) {
      book.names.emplace_back(row.name, sheet.address(sheet.rows.size(), 1));
      sheet.rows.push_back({Cell::of(row.name),
                            Cell::of(row.value, Cell::Style::input),
                            Cell::of(row.source), Cell::of(row.flag)});
    }
  }
  book.sheets.push_back(std::move(sheet));
}
