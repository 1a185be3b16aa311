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
  /// An index into `clusters` or `nodes`.
  using Index = uint32_t;

  struct Cluster {
    enum class Kind : uint8_t { stage, function, loop };
    Kind kind = Kind::function;
    /// Name of the cluster: "stage 0", "decoder", or "layers" for a loop.
    std::string name;
    /// For a stage, the layers that it has: "0-39".
    std::string layers;
    std::optional<Index> parent;
    /// For a function, how often a step runs it on this stage; for a loop, its
    /// number of iterations.
    std::optional<int64_t> runs;
  };

  struct Node {
    enum class Kind : uint8_t { argument, result, held, collective, compute };
    Kind kind = Kind::compute;
    /// The name of the op's first result in the IR: "%q"; "" if it has none.
    std::string name;
    /// The name of the op: "transformer.linear"; "" for arguments and results.
    std::string op;
    /// The checkpoint name of the op's tensor, or the axes of a collective.
    std::string detail;
    Index cluster = 0;
    std::vector<std::pair<std::string, std::string>> attributes;
  };

  /// One dimension of a tensor: its extent, "query" or "64"; the axes that
  /// split it; the split rule, if it is not the default of the extent; and the
  /// axes that group its rows by experts.
  struct Dimension {
    std::string extent, rule;
    std::vector<std::string> axes, grouped;
  };

  struct Edge {
    Index from = 0, to = 0;
    /// The name in the IR of the value that the edge carries, where it is used.
    std::string value;
    /// The dimensions of the tensor; empty for values that are not tensors.
    std::vector<Dimension> dimensions;
    std::string elementType;
    /// Axes over which the value must still be summed.
    std::vector<std::string> partial;
    /// Whether the value is read by a later execution of the target node: in
    /// the next iteration, or in the next layer.
    bool isCarried = false;
    /// Whether one pipeline stage sends the value to another.
    bool isTransfer = false;
  };

  std::string name;
  std::vector<Cluster> clusters;
  std::vector<Node> nodes;
  std::vector<Edge> edges;
};

const char *nameOf(ModuleGraph::Cluster::Kind kind);
const char *nameOf(ModuleGraph::Node::Kind kind);

/// Builds the graph of `module`. Emits errors: no public function or several,
/// endless recursion, stages that do not fit the layers, a deployment, more
/// than `limits::maxGraphNodes` nodes.
mlir::FailureOr<ModuleGraph> buildGraph(mlir::ModuleOp module);

/// Writes the graph in the DOT language of Graphviz.
std::string writeDot(const ModuleGraph &graph);
/// Writes the graph as JSON, in the format `autopar.graph/1`
/// (lib/ModuleGraph/schema).
std::string writeJson(const ModuleGraph &graph);

} // namespace autopar::graph

#endif // AUTOPAR_MODULEGRAPH_MODULEGRAPH_H
