//===- WriteDot.cpp -------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/ModuleGraph/ModuleGraph.h"

#include "autopar/Support/Terminal.h"
#include "autopar/Support/Text.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/raw_ostream.h"

#include <map>

using namespace autopar;
using namespace autopar::graph;

using Cluster = ModuleGraph::Cluster;
using Node = ModuleGraph::Node;
using Edge = ModuleGraph::Edge;

/// Returns `text` for the inside of a string in DOT, where none of its
/// characters is special.
static std::string escape(const std::string &text) {
  std::string result;
  std::string shown = visible(text);
  bool isText = isUtf8(shown);
  for (char c : shown) {
    if (c == '"' || c == '\\')
      result += '\\';
    result += isText || static_cast<unsigned char>(c) < 0x80 ? c : '?';
  }
  return result;
}

/// Returns a string in DOT that consists of those lines that are not empty.
static std::string quote(std::initializer_list<std::string> lines) {
  std::string result;
  for (const std::string &line : lines)
    if (!line.empty())
      result += (result.empty() ? "" : "\\n") + escape(line);
  return "\"" + result + "\"";
}

static std::string dimensionText(const ModuleGraph::Dimension &dimension) {
  std::string text = dimension.extent;
  if (!dimension.axes.empty())
    text += " by " + join(dimension.axes, "*");
  if (!dimension.rule.empty())
    text += " " + dimension.rule;
  if (!dimension.grouped.empty())
    text += " grouped by " + join(dimension.grouped, "*");
  return text;
}

/// Returns the text of a tensor: "batch x query x 64 by tp x 128 bf16".
static std::string tensorText(const Edge &edge) {
  std::string text;
  for (const ModuleGraph::Dimension &dimension : edge.dimensions)
    text += (text.empty() ? "" : " x ") + dimensionText(dimension);
  if (!edge.elementType.empty())
    text += (text.empty() ? "" : " ") + edge.elementType;
  return text;
}

namespace {

class DotWriter {
public:
  explicit DotWriter(const ModuleGraph &graph) : graph(graph), os(text) {
    for (auto [i, cluster] : llvm::enumerate(graph.clusters))
      if (cluster.parent)
        inside[*cluster.parent].push_back(i);
    for (auto [i, node] : llvm::enumerate(graph.nodes))
      nodesOf[node.cluster].push_back(i);
  }

  std::string write() {
    os << "digraph " << quote({graph.name}) << " {\n"
       << "  graph [rankdir=TB, compound=true, fontname=\"sans-serif\"];\n"
       << "  node [shape=box, fontname=\"sans-serif\", fontsize=10];\n"
       << "  edge [fontname=\"sans-serif\", fontsize=8];\n";
    for (auto [i, cluster] : llvm::enumerate(graph.clusters))
      if (!cluster.parent)
        write(i, "  ");
    for (const Edge &edge : graph.edges)
      write(edge);
    os << "}\n";
    return text;
  }

private:
  void write(ModuleGraph::Index index, const std::string &indent) {
    const Cluster &cluster = graph.clusters[index];
    std::string title = cluster.name;
    if (cluster.runs)
      title += " x " + formatInteger(*cluster.runs);
    std::string layers = cluster.layers;
    os << indent << "subgraph \"cluster_" << index << "\" {\n"
       << indent << "  label=" << quote({title, layers}) << "; "
       << styleOf(cluster.kind) << "\n";
    for (ModuleGraph::Index node : nodesOf[index])
      writeNode(node, indent + "  ");
    for (ModuleGraph::Index child : inside[index])
      write(child, indent + "  ");
    os << indent << "}\n";
  }

  static const char *styleOf(Cluster::Kind kind) {
    switch (kind) {
    case Cluster::Kind::stage:
      return "style=\"bold\"; color=\"#1f4e79\";";
    case Cluster::Kind::function:
      return "style=\"rounded\"; color=\"#7f7f7f\";";
    case Cluster::Kind::loop:
      return "style=\"dashed\"; color=\"#7f7f7f\";";
    }
    llvm_unreachable("all kinds are above");
  }

  static const char *styleOf(Node::Kind kind) {
    switch (kind) {
    case Node::Kind::argument:
    case Node::Kind::result:
      return "shape=ellipse";
    case Node::Kind::held:
      return "shape=cylinder, color=\"#7f7f7f\"";
    case Node::Kind::collective:
      return "shape=hexagon, style=filled, fillcolor=\"#f4b183\"";
    case Node::Kind::compute:
      return "style=filled, fillcolor=\"#deebf7\"";
    }
    llvm_unreachable("all kinds are above");
  }

  void writeNode(ModuleGraph::Index index, const std::string &indent) {
    const Node &node = graph.nodes[index];
    std::string tip = node.op;
    for (const auto &[name, value] : node.attributes)
      tip += (tip.empty() ? "" : " ") + name + "=" + value;
    std::string what = node.op.empty() ? nameOf(node.kind) : node.op;
    os << indent << "n" << index
       << " [label=" << quote({node.name, what, node.detail})
       << ", tooltip=" << quote({tip}) << ", " << styleOf(node.kind) << "];\n";
  }

  void write(const Edge &edge) {
    std::string sums =
        edge.partial.empty() ? "" : "sum over " + join(edge.partial, "*");
    os << "  n" << edge.from << " -> n" << edge.to
       << " [label=" << quote({tensorText(edge), sums})
       << ", tooltip=" << quote({edge.value});
    if (edge.isTransfer)
      os << ", penwidth=2, color=\"#1f4e79\"";
    if (edge.isCarried)
      os << ", style=dashed, constraint=false";
    os << "];\n";
  }

  const ModuleGraph &graph;
  /// For each cluster, its inner clusters (`inside`) and its nodes (`nodesOf`).
  std::map<ModuleGraph::Index, std::vector<ModuleGraph::Index>> inside, nodesOf;
  std::string text;
  llvm::raw_string_ostream os;
};

} // namespace

std::string autopar::graph::writeDot(const ModuleGraph &graph) {
  return DotWriter(graph).write();
}
