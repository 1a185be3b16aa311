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

/// The sizes of a plan, and the sizes of its axes.
struct SpaceMesh {
  PlanSizes sizes = {};
  std::vector<int64_t> axes;
  /// Index into `SpaceIndex::kinds`.
  uint32_t kind = 0;

  bool hasStages() const { return sizes[Knob::pp] > 1; }
};

/// The parts that meshes with the same axes share, whatever their sizes.
struct MeshKind {
  struct Program {
    ProgramMesh mesh;
    /// Key of the strategy without choices.
    std::string key;
  };
  /// The programs of plans without fsdp, and with it.
  std::array<Program, 2> programs;
};

/// The meshes of one strategy, which one program prices.
struct StrategyMeshes {
  PlanChoice choice;
  /// The plan of the program.
  plan::Plan plan;
  cost::CompiledProgram *program = nullptr;
  /// For each axis of the program behind that of pipeline stages: the index of
  /// the same axis in the plan.
  std::vector<uint32_t> axisOf;
  std::vector<uint32_t> meshes;
  /// For each of `meshes`, the strategy of the same plans with fsdp; `none` if
  /// there is none, or if this strategy has fsdp itself.
  std::vector<uint32_t> gathered;
  /// Whether every mesh also has a strategy without fsdp, whose prices bound
  /// those of this one.
  bool isBounded = false;

  static constexpr uint32_t none = ~uint32_t(0);
};

/// All plans of a space on one target.
class SpaceIndex {
public:
  /// Arguments outlive it.
  SpaceIndex(const SearchProblem &problem, const SearchTarget &target);

  /// Indices of the strategies in the order in which they are compiled. Each
  /// group has strategies that share passes, and at most as many as one thread
  /// compiles in a row.
  std::vector<std::vector<uint32_t>> makingOrder() const;
  /// Loads the program of a strategy, null if it is illegal. Threads may call
  /// it for different strategies.
  void findProgram(uint32_t strategy);

  /// Sets `layout` to that of a mesh of a strategy in this order.
  void lay(const StrategyMeshes &strategy, const SpaceMesh &mesh,
           const AxisOrder &order, cost::Layout &layout) const;

  /// The axis on which the stages of a mesh lie in this order.
  cost::GroupAxis stagesOf(const SpaceMesh &mesh, const AxisOrder &order) const;

  /// Points of a mesh in one order. For training they are the shapes of
  /// iterations.
  uint64_t pointsOf(const PlanSizes &sizes);
  const std::vector<IterationShape> &shapesOf(const PlanSizes &sizes) const {
    return shapes.at({sizes[Knob::pp], sizes.replicas()});
  }

  /// The plan of a candidate, with its microbatches.
  plan::Plan planOf(const Candidate &candidate) const;

  const SearchProblem &problem;
  const SearchTarget &target;
  std::vector<SpaceMesh> meshes;
  std::vector<MeshKind> kinds;
  std::vector<StrategyMeshes> strategies;
  cost::Network network;
  AxisOrders orders;
  /// Counts of plans whose degrees have no common mesh.
  SearchProof proof;

private:
  void add(const PlanSizes &sizes);
  uint32_t strategyOf(const PlanChoice &choice, uint32_t kind);
  bool bounds() const;
  void pair(const std::vector<uint32_t> &own);
  MeshKind kindOf(const plan::Plan &plan, const PlanSizes &sizes) const;
  static void findAxes(StrategyMeshes &strategy);

  /// Points of a mesh with stages: batches, each with every number of
  /// microbatches.
  uint64_t stagedPoints = 0;
  /// Shapes of training iterations, by stages and replicas.
  std::map<std::pair<int64_t, int64_t>, std::vector<IterationShape>> shapes;
  /// Index into `kinds`, by key of the strategy without choices.
  std::map<std::string, uint32_t> knownKinds;
  /// Index into `strategies`, by key of the program and code of the choice.
  std::map<std::pair<std::string, uint32_t>, uint32_t> known;
};

} // namespace autopar::search

#endif // AUTOPAR_LIB_SEARCH_SPACEINDEX_H
