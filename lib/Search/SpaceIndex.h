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

/// Sizes, and those of the axes that their plan has.
struct SpaceMesh {
  PlanSizes sizes = {};
  std::vector<int64_t> axes;
  /// Index into `SpaceIndex::kinds`.
  uint32_t kind = 0;

  bool hasStages() const { return sizes[Knob::pp] > 1; }
};

/// What meshes with the same axes have in common, whatever their sizes.
struct MeshKind {
  struct Program {
    ProgramMesh mesh;
    /// Without choices.
    std::string key;
  };
  /// Of plans without fsdp, and with it.
  std::array<Program, 2> programs;
};

/// The meshes of one strategy: one program prices them all.
struct StrategyMeshes {
  PlanChoice choice;
  /// Of the program.
  plan::Plan plan;
  cost::CompiledProgram *program = nullptr;
  /// Of each axis of the program, which of the plan's it is, behind that of
  /// pipeline stages.
  std::vector<uint32_t> axisOf;
  std::vector<uint32_t> meshes;
  /// By `meshes`, the strategy that splits parameters of the same plans by
  /// fsdp; `none` where there is no such, and of that itself.
  std::vector<uint32_t> gathered;
  /// Whether every mesh has another strategy that gathers nothing: the prices
  /// of that one bound those of this one.
  bool isBounded = false;

  static constexpr uint32_t none = ~uint32_t(0);
};

/// All plans of a space on one target.
class SpaceIndex {
public:
  /// Arguments outlive it.
  SpaceIndex(const SearchProblem &problem, const SearchTarget &target);

  /// Indices of the strategies in the order in which they are made: those that
  /// are made alike together, as many as one thread makes at once.
  std::vector<std::vector<uint32_t>> makingOrder() const;
  /// Finds the program of a strategy, or none. Threads find different ones.
  void findProgram(uint32_t strategy);

  /// The layout of a mesh of a strategy, in this order.
  void lay(const StrategyMeshes &strategy, const SpaceMesh &mesh,
           const AxisOrder &order, cost::Layout &layout) const;

  /// Where the stages of a mesh lie in this order.
  cost::GroupAxis stagesOf(const SpaceMesh &mesh, const AxisOrder &order) const;

  /// Points of a mesh in one order; of training, those.
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
  /// Of plans without a common mesh of their degrees.
  SearchProof proof;

private:
  void add(const PlanSizes &sizes);
  uint32_t strategyOf(const PlanChoice &choice, uint32_t kind);
  bool bounds() const;
  void pair(const std::vector<uint32_t> &own);
  MeshKind kindOf(const plan::Plan &plan, const PlanSizes &sizes) const;
  static void findAxes(StrategyMeshes &strategy);

  /// Batches of a mesh with stages, with each number of microbatches.
  uint64_t stagedPoints = 0;
  /// Of training, by stages and replicas.
  std::map<std::pair<int64_t, int64_t>, std::vector<IterationShape>> shapes;
  /// By key without choices.
  std::map<std::string, uint32_t> knownKinds;
  /// By key of the program without choices, and choice.
  std::map<std::pair<std::string, uint32_t>, uint32_t> known;
};

} // namespace autopar::search

#endif // AUTOPAR_LIB_SEARCH_SPACEINDEX_H
