//===- ModuleGraph.h - A module as nodes and edges --------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The graph for drawing tools: each op is a node, each use of a value an edge,
// each function a cluster with the number of its runs per step. A module with
// stages has a cluster for each stage, which contains the stage's part.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_MODULEGRAPH_MODULEGRAPH_H
#define AUTOPAR_MODULEGRAPH_MODULEGRAPH_H

#include "mlir/IR/BuiltinOps.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace autopar::graph {

struct ModuleGraph {
  /// Index into `clusters` or `nodes`.
  using Index = uint32_t;

  struct Cluster {
    enum class Kind : uint8_t { stage, function, loop };
    Kind kind = Kind::function;
    /// "stage 0", "decoder", "layers" of a loop.
    std::string name;
    /// For a stage: its layers, "0-39".
    std::string layers;
    std::optional<Index> parent;
    /// For a function: its runs per step, on this stage; for a loop: its
    /// iterations.
    std::optional<int64_t> runs;
  };

  struct Node {
    enum class Kind : uint8_t { argument, result, held, collective, compute };
    Kind kind = Kind::compute;
    /// The name of its first result in the IR: "%q"; empty without results.
    std::string name;
    /// "transformer.linear"; empty of arguments and results.
    std::string op;
    /// The checkpoint's name of its tensor; or the axes of a collective.
    std::string detail;
    Index cluster = 0;
    std::vector<std::pair<std::string, std::string>> attributes;
  };

  /// A dimension: "query" or "64", the axes that split it, by which rule where
  /// it is not the extent's own, and those that group its rows by experts.
  struct Dimension {
    std::string extent, rule;
    std::vector<std::string> axes, grouped;
  };

  struct Edge {
    Index from = 0, to = 0;
    /// The name of the value in the IR at its use.
    std::string value;
    /// Empty for values that are no tensors.
    std::vector<Dimension> dimensions;
    std::string elementType;
    /// Axes over which it is still to be summed.
    std::vector<std::string> partial;
    /// Whether a later run of its node reads it: the next iteration's, or the
    /// next layer's.
    bool isCarried = false;
    /// Whether one stage sends it to another.
    bool isTransfer = false;
  };

  std::string name;
  std::vector<Cluster> clusters;
  std::vector<Node> nodes;
  std::vector<Edge> edges;
};

const char *nameOf(ModuleGraph::Cluster::Kind kind);
const char *nameOf(ModuleGraph::Node::Kind kind);

/// Builds the graph of `module`. Errors are emitted: no public function or
/// several, endless recursion, stages that do not fit the layers, a deployment,
/// more than `limits::maxGraphNodes` nodes.
mlir::FailureOr<ModuleGraph> buildGraph(mlir::ModuleOp module);

/// Writes the graph for Graphviz, and other readers of its language.
std::string writeDot(const ModuleGraph &graph);
/// `autopar.graph/1`, see lib/ModuleGraph/schema.
std::string writeJson(const ModuleGraph &graph);

} // namespace autopar::graph

#endif // AUTOPAR_MODULEGRAPH_MODULEGRAPH_H
