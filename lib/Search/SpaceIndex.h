//===- SpaceIndex.h - The plans of a space, by strategy ---------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_SEARCH_SPACEINDEX_H
#define AUTOPAR_LIB_SEARCH_SPACEINDEX_H

#include "AxisOrders.h"
#include "IterationShapes.h"
#include "ProgramMesh.h"

#include "autopar/Cost/Pricer.h"
#include "autopar/Search/Frontier.h"
#include "autopar/Search/Search.h"

namespace autopar::search {

/// A mesh of the space: the sizes of the plan's degrees, and the sizes of its
/// axes.
struct SpaceMesh {
  PlanSizes sizes = {};
  std::vector<int64_t> axes;
  /// The index of the mesh's kind in `SpaceIndex::kinds`.
  uint32_t kind = 0;

  bool hasStages() const { return sizes[Knob::pp] > 1; }
};

/// What meshes with the same axes share, whatever the sizes of these axes are.
struct MeshKind {
  struct Program {
    ProgramMesh mesh;
    /// The key of the strategy in which nothing is chosen.
    std::string key;
  };
  /// The programs of plans without fsdp (index 0) and with fsdp (index 1).
  std::array<Program, 2> programs;
};

/// The meshes of one strategy; one program prices all of them.
struct StrategyMeshes {
  PlanChoice choice;
  /// The plan of the program.
  plan::Plan plan;
  cost::CompiledProgram *program = nullptr;
  /// For each axis of the program after that of pipeline stages, the index of
  /// the same axis in the plan.
  std::vector<uint32_t> axisOf;
  std::vector<uint32_t> meshes;
  /// For each of `meshes`, the strategy of the same plans with fsdp; `none` if
  /// there is none, or if this strategy has fsdp itself.
  std::vector<uint32_t> gathered;
  /// Whether every mesh also has a strategy without fsdp, whose prices bound
  /// those of this strategy.
  bool isBounded = false;

  static constexpr uint32_t none = ~uint32_t(0);
};

/// All plans of a space on one target.
class SpaceIndex {
public:
  /// The arguments must outlive the object.
  SpaceIndex(const SearchProblem &problem, const SearchTarget &target);

  /// Returns the indices of the strategies in the order in which they are
  /// compiled. A group consists of strategies that share passes, and of at most
  /// as many as one thread compiles one after another.
  std::vector<std::vector<uint32_t>> makingOrder() const;
  /// Loads the program of a strategy; the program is null if the strategy is
  /// illegal. Several threads may call this for different strategies.
  void findProgram(uint32_t strategy);

  /// Sets `layout` to the layout of a mesh of a strategy, with the axes in this
  /// order.
  void lay(const StrategyMeshes &strategy, const SpaceMesh &mesh,
           const AxisOrder &order, cost::Layout &layout) const;

  /// Returns the axis along which the stages of a mesh lie, with the axes in
  /// this order.
  cost::GroupAxis stagesOf(const SpaceMesh &mesh, const AxisOrder &order) const;

  /// Returns the number of points that a mesh has in one order of axes. For
  /// training, the points are the shapes of iterations.
  uint64_t pointsOf(const PlanSizes &sizes);
  const std::vector<IterationShape> &shapesOf(const PlanSizes &sizes) const {
    return shapes.at({sizes[Knob::pp], sizes.replicas()});
  }

  /// Returns the plan of a candidate, including its microbatches.
  plan::Plan planOf(const Candidate &candidate) const;

  const SearchProblem &problem;
  const SearchTarget &target;
  std::vector<SpaceMesh> meshes;
  std::vector<MeshKind> kinds;
  std::vector<StrategyMeshes> strategies;
  cost::Network network;
  AxisOrders orders;
  /// Counts plans whose degrees have no common mesh.
  SearchProof proof;

private:
  void add(const PlanSizes &sizes);
  uint32_t strategyOf(const PlanChoice &choice, uint32_t kind);
  bool bounds() const;
  void pair(const std::vector<uint32_t> &own);
  MeshKind kindOf(const plan::Plan &plan, const PlanSizes &sizes) const;
  static void findAxes(StrategyMeshes &strategy);

  /// The number of points of a mesh with stages: each batch counts once for
  /// each of its numbers of microbatches.
  uint64_t stagedPoints = 0;
  /// The shapes of training iterations, by the number of stages and of
  /// replicas.
  std::map<std::pair<int64_t, int64_t>, std::vector<IterationShape>> shapes;
  /// The index into `kinds`, by the key of the strategy in which nothing is
  /// chosen.
  std::map<std::string, uint32_t> knownKinds;
  /// The index into `strategies`, by the key of the program and the code of the
  /// choice.
  std::map<std::pair<std::string, uint32_t>, uint32_t> known;
};

} // namespace autopar::search

#endif // AUTOPAR_LIB_SEARCH_SPACEINDEX_H
