//===- Drawing.h - Nodes, edges and clusters, each once ----------*- C++
//-*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_MODULEGRAPH_DRAWING_H
#define AUTOPAR_LIB_MODULEGRAPH_DRAWING_H

#include "autopar/ModuleGraph/ModuleGraph.h"

#include "autopar/Schedule/Staging.h"

#include "mlir/IR/AsmState.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

namespace autopar::graph {

/// The number of a stage. A module without stages has one stage, which has no
/// cluster.
using Stage = uint32_t;

/// Where a value comes from: a node, or a join, which stands for one of several
/// nodes.
struct Source {
  ModuleGraph::Index index = 0;
  bool isJoin = false;
};

/// Fills in a graph. An op is drawn once for each stage.
class Drawing {
public:
  using Index = ModuleGraph::Index;

  Drawing(mlir::ModuleOp module, std::vector<schedule::LayerRange> stages);

  /// Returns the graph, in which each join is replaced by its inputs. Fails
  /// with a diagnostic if the graph is too large.
  mlir::FailureOr<ModuleGraph> finish();

  Index functionCluster(mlir::FunctionOpInterface function, Stage stage);
  Index loopCluster(mlir::LoopLikeOpInterface loop, Index parent, Stage stage);
  void setRuns(Index cluster, std::optional<int64_t> runs) {
    graph.clusters[cluster].runs = runs;
  }

  bool isDrawn(mlir::Operation *op, Stage stage) const {
    return nodes.contains({op, stage});
  }
  /// Returns the node of `op`, which is drawn into `cluster` if it is not drawn
  /// yet.
  Index node(mlir::Operation *op, Stage stage, Index cluster);
  Index argument(mlir::BlockArgument value, Stage stage, Index cluster);
  /// Draws a value that leaves the step, which `use` returns. Returns its node.
  Index result(mlir::OpOperand &use, Stage stage, Index cluster);
  /// Returns the source of a value that is carried around a loop; it has no
  /// inputs yet.
  Source join();
  void addTo(Source join, Source source) {
    joins[join.index].push_back(source);
  }

  /// Adds an edge for a value that node `to` reads.
  void connect(Source from, Index to, mlir::Value value);
  bool isTooLarge() const;
  mlir::LogicalResult emitTooLarge();

private:
  using Key = std::pair<const void *, Stage>;

  std::optional<Index> stageCluster(Stage stage);
  Index newNode(ModuleGraph::Node node, Stage stage, Index cluster);
  void addEdge(Index from, Index to, mlir::Value value);
  std::string textOf(mlir::Value value);
  std::string textOf(mlir::Attribute attribute);

  mlir::ModuleOp module;
  std::vector<schedule::LayerRange> stages;
  mlir::AsmState state;
  ModuleGraph graph;
  std::vector<Stage> stageOf;
  llvm::DenseMap<Key, Index> nodes, clusters;
  std::vector<llvm::SmallVector<Source, 2>> joins;
  struct Use {
    Source from;
    Index to;
    mlir::Value value;
  };
  std::vector<Use> joined;
  llvm::DenseSet<std::tuple<Index, Index, const void *>> edges;
};

} // namespace autopar::graph

#endif // AUTOPAR_LIB_MODULEGRAPH_DRAWING_H
