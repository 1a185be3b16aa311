//===- WriteJson.cpp - autopar.graph/1 ------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/ModuleGraph/ModuleGraph.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ErrorHandling.h"

#include <nlohmann/json.hpp>

using namespace autopar;
using namespace autopar::graph;

using Json = nlohmann::ordered_json;

const char *autopar::graph::nameOf(ModuleGraph::Cluster::Kind kind) {
  switch (kind) {
  case ModuleGraph::Cluster::Kind::stage:
    return "stage";
  case ModuleGraph::Cluster::Kind::function:
    return "function";
  case ModuleGraph::Cluster::Kind::loop:
    return "loop";
  }
  llvm_unreachable("all kinds are above");
}

const char *autopar::graph::nameOf(ModuleGraph::Node::Kind kind) {
  switch (kind) {
  case ModuleGraph::Node::Kind::argument:
    return "argument";
  case ModuleGraph::Node::Kind::result:
    return "result";
  case ModuleGraph::Node::Kind::held:
    return "held";
  case ModuleGraph::Node::Kind::collective:
    return "collective";
  case ModuleGraph::Node::Kind::compute:
    return "compute";
  }
  llvm_unreachable("all kinds are above");
}

template <typename T>
static Json orNull(const std::optional<T> &value) {
  return value ? Json(*value) : Json();
}

static Json write(const ModuleGraph::Cluster &cluster) {
  return {{"kind", nameOf(cluster.kind)},
          {"name", cluster.name},
          {"layers", cluster.layers.empty() ? Json() : Json(cluster.layers)},
          {"parent", orNull(cluster.parent)},
          {"runs", orNull(cluster.runs)}};
}

static Json write(const ModuleGraph::Node &node) {
  Json attributes = Json::object();
  for (const auto &[name, value] : node.attributes)
    attributes[name] = value;
  return {{"kind", nameOf(node.kind)},
          {"name", node.name},
          {"op", node.op},
          {"detail", node.detail},
          {"cluster", node.cluster},
          {"attributes", std::move(attributes)}};
}

static Json write(const ModuleGraph::Edge &edge) {
  Json dimensions = Json::array();
  for (const ModuleGraph::Dimension &dimension : edge.dimensions)
    dimensions.push_back({{"extent", dimension.extent},
                          {"axes", dimension.axes},
                          {"rule", dimension.rule},
                          {"grouped", dimension.grouped}});
  return {{"from", edge.from},
          {"to", edge.to},
          {"value", edge.value},
          {"dimensions", std::move(dimensions)},
          {"element_type", edge.elementType},
          {"partial", edge.partial},
          {"carried", edge.isCarried},
          {"transfer", edge.isTransfer}};
}

template <typename T>
static Json writeAll(const std::vector<T> &all) {
  Json list = Json::array();
  for (auto [i, one] : llvm::enumerate(all)) {
    Json entry = write(one);
    entry["id"] = i;
    list.push_back(std::move(entry));
  }
  return list;
}

std::string autopar::graph::writeJson(const ModuleGraph &graph) {
  Json root = {{"schema", "autopar.graph/1"},
               {"model", graph.name},
               {"clusters", writeAll(graph.clusters)},
               {"nodes", writeAll(graph.nodes)},
               {"edges", writeAll(graph.edges)}};
  return root.dump(1, ' ', /*ensure_ascii=*/false,
                   Json::error_handler_t::replace) +
         "\n";
}
