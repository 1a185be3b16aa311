//===- ProgramMesh.cpp ----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProgramMesh.h"

#include <algorithm>

using namespace autopar;
using namespace autopar::placement;
using namespace autopar::plan;
using namespace autopar::program;
using namespace autopar::schedule;
using namespace autopar::search;

/// Doubles the replicas of `sizes` if one of two axes would otherwise be
/// missing: the axis over which experts are split, and the axis along which
/// experts have copies, which fsdp gathers.
static PlanSizes withReplicas(PlanSizes sizes, bool fsdp) {
  int64_t &dp = sizes[Knob::dp], &ep = sizes[Knob::ep];
  int64_t inner = sizes[Knob::tp] * sizes[Knob::cp], etp = sizes[Knob::etp];
  bool splitsExperts = ep > 1 || etp != sizes[Knob::tp];
  if (ep > 1 && ep * etp == inner) {
    ep *= 2;
    dp *= 2;
  }
  int64_t whole = splitsExperts ? std::max(inner, ep * etp) : inner;
  if (dp * inner == whole && !(splitsExperts && fsdp))
    dp *= 2;
  sizes[Knob::shard_fsdp] = sizes.copies();
  return sizes;
}

/// Returns the names of the degrees that contain `axis`. No two axes have the
/// same degrees.
static std::vector<std::string> degreesOf(const Plan &plan,
                                          const std::string &axis) {
  std::vector<std::string> names;
  for (Degree degree : allDegrees) {
    std::vector<std::string> axes = plan.axesOf(degree);
    if (std::find(axes.begin(), axes.end(), axis) != axes.end())
      names.emplace_back(nameOf(degree));
  }
  return names;
}

/// Returns the axes of a stage: all axes after that of pipeline stages.
static std::vector<PlanAxis> axesOfStage(const Plan &plan) {
  return {plan.axes.begin() + (plan.has(Degree::pp) ? 1 : 0), plan.axes.end()};
}

ProgramMesh autopar::search::programMeshOf(const Plan &plan) {
  ProgramMesh mesh{plan, {}};
  for (uint32_t i = 0; i < axesOfStage(plan).size(); ++i)
    mesh.axisOf.emplace_back(i);
  return mesh;
}

ProgramMesh autopar::search::programMeshOf(const Plan &plan, const Plan &base,
                                           const PlanSizes &sizes, bool fsdp) {
  Result<Plan> wider = planOf(base, withReplicas(sizes, fsdp), {});
  if (!wider)
    return programMeshOf(plan);
  ProgramMesh mesh{std::move(*wider), {}};
  std::vector<PlanAxis> known = axesOfStage(plan);
  size_t found = 0;
  for (const PlanAxis &axis : axesOfStage(mesh.plan)) {
    std::vector<std::string> degrees = degreesOf(mesh.plan, axis.name);
    auto own =
        std::find_if(known.begin(), known.end(), [&](const PlanAxis &other) {
          return degreesOf(plan, other.name) == degrees;
        });
    std::optional<uint32_t> &index = mesh.axisOf.emplace_back();
    if (own != known.end()) {
      index = static_cast<uint32_t>(own - known.begin());
      ++found;
    }
  }
  return found == known.size() ? mesh : programMeshOf(plan);
}
