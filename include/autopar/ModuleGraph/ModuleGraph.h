//===- ModuleGraph.h - A module as nodes and edges --------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What tools that draw are given: each op is a node, each use of a value an
// edge, each function a cluster that says how often a step runs it. A module
// with stages has a cluster for each stage, and in it what that stage runs.
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
  /// Of `clusters`, `nodes`.
  using Index = uint32_t;

  struct Cluster {
    enum class Kind : uint8_t { stage, function, loop };
    Kind kind = Kind::function;
    /// "stage 0", "decoder", "layers" of a loop.
    std::string name;
    /// Of a stage: its layers, "0-39".
    std::string layers;
    std::optional<Index> parent;
    /// Of a function: how often a step runs it, on this stage; of a loop: its
    /// iterations.
    std::optional<int64_t> runs;
  };

  struct Node {
    enum class Kind : uint8_t { argument, result, held, collective, compute };
    Kind kind = Kind::compute;
    /// As the IR prints its first result: "%q"; empty where it has none.
    std::string name;
    /// "transformer.linear"; empty of arguments and results.
    std::string op;
    /// What the checkpoint calls its tensor; over which axes a collective runs.
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
    /// As the IR prints it where it is used.
    std::string value;
    /// Empty of what is no tensor.
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

/// What `module` computes. Errors are emitted: no public function or several,
/// calls that have no end, stages that do not fit the layers, a deployment,
/// more than `limits::maxGraphNodes` nodes.
mlir::FailureOr<ModuleGraph> buildGraph(mlir::ModuleOp module);

/// For Graphviz, and what else reads its language.
std::string writeDot(const ModuleGraph &graph);
/// `autopar.graph/1`, see lib/ModuleGraph/schema.
std::string writeJson(const ModuleGraph &graph);

} // namespace autopar::graph

#endif // AUTOPAR_MODULEGRAPH_MODULEGRAPH_H
