//===- NeutralAxes.cpp ----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Plan/NeutralAxes.h"

#include "autopar/Support/Checked.h"

#include <algorithm>
#include <array>

using namespace autopar;
using namespace autopar::placement;
using namespace autopar::plan;
using namespace autopar::program;
using namespace autopar::schedule;

using Names = std::vector<std::string>;

static bool contains(const Names &names, const std::string &name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

//===----------------------------------------------------------------------===//
// Removing degrees that change nothing
//===----------------------------------------------------------------------===//

static Degrees withoutNeutral(Degrees degrees) {
  if (degrees.dcp == 1)
    degrees.dcp.reset();
  if (degrees.attentionTp == degrees.tp)
    degrees.attentionTp.reset();
  Checked replicas = Checked(degrees.dp.value_or(1)) * degrees.cp.value_or(1);
  if (degrees.fsdp == 1 || (degrees.fsdp && replicas.int64() == degrees.fsdp))
    degrees.fsdp.reset();
  return degrees;
}

static Names axesOf(const MeshPlan &mesh, std::string_view name) {
  for (const PlanDegree &degree : mesh.degrees)
    if (degree.name == name)
      return degree.axes;
  return {};
}

Result<MeshPlan> autopar::plan::planCanonicalMesh(const Degrees &degrees) {
  Result<MeshPlan> given = planMesh(degrees);
  Degrees cutting = withoutNeutral(degrees);
  if (!given || (degrees.dcp == cutting.dcp &&
                 degrees.attentionTp == cutting.attentionTp &&
                 degrees.fsdp == cutting.fsdp))
    return given;
  Result<MeshPlan> mesh = planMesh(cutting);
  if (!mesh)
    return mesh;
  if (degrees.dcp && !cutting.dcp)
    mesh->degrees.push_back({std::string(nameOf(Degree::dcp)), {}});
  if (degrees.attentionTp && !cutting.attentionTp)
    mesh->degrees.push_back({std::string(nameOf(Degree::attention_tp)),
                             axesOf(*mesh, nameOf(Degree::tp))});
  if (degrees.fsdp && !cutting.fsdp) {
    Names replicas;
    if (degrees.fsdp != 1)
      for (Degree base : {Degree::dp, Degree::cp})
        for (std::string &axis : axesOf(*mesh, nameOf(base)))
          replicas.push_back(std::move(axis));
    mesh->degrees.push_back(
        {std::string(nameOf(Degree::fsdp)), std::move(replicas)});
  }
  return mesh;
}

static bool hasOneDevice(const Plan &plan, const std::string &axis) {
  const PlanAxis *known = plan.axis(axis);
  return known && known->size == 1;
}

/// Returns the axes of the degree `name`, except those that are known to have
/// one device.
static Names splittingAxes(const Plan &plan, Degree name) {
  Names axes = plan.axesOf(name);
  axes.erase(std::remove_if(axes.begin(), axes.end(),
                            [&](const std::string &axis) {
                              return hasOneDevice(plan, axis);
                            }),
             axes.end());
  return axes;
}

static bool splitsAny(const Plan &plan, const std::array<Degree, 3> &degrees) {
  return std::any_of(degrees.begin(), degrees.end(), [&](Degree name) {
    return !splittingAxes(plan, name).empty();
  });
}

static void erase(Plan &plan, Degree name) {
  auto &degrees = plan.degrees;
  degrees.erase(std::remove_if(degrees.begin(), degrees.end(),
                               [&](const PlanDegree &degree) {
                                 return degree.name == nameOf(name);
                               }),
                degrees.end());
}

/// Parameters that are split over one replica are not split at all; a split
/// over all replicas is the default.
static void dropNeutralReplicas(Plan &plan) {
  Names part = splittingAxes(plan, Degree::fsdp);
  if (part.empty()) {
    plan.fsdp = false;
    plan.training.zero.reset();
  }
  Plan whole = plan;
  erase(whole, Degree::fsdp);
  if (part.empty() || part == splittingAxes(whole, Degree::fsdp))
    plan = std::move(whole);
}

void autopar::plan::dropNeutralDegrees(Plan &plan) {
  if (splittingAxes(plan, Degree::dcp).empty())
    erase(plan, Degree::dcp);
  if (splittingAxes(plan, Degree::attention_tp) ==
      splittingAxes(plan, Degree::tp))
    erase(plan, Degree::attention_tp);
  if (plan.has(Degree::fsdp))
    dropNeutralReplicas(plan);
  // Only a placement of experts needs these degrees if nothing is split.
  if (!plan.expertPlacement &&
      !splitsAny(plan, {Degree::tp, Degree::cp, Degree::dp}))
    for (Degree name : {Degree::ep, Degree::etp, Degree::edp})
      erase(plan, name);
}

//===----------------------------------------------------------------------===//
// Removing axes of one device
//===----------------------------------------------------------------------===//

/// Returns the axes of tp, cp and dp that have one device. If ep or
/// attention_tp has the degree 1, which makes a difference, its outermost axis
/// is not among them.
static Names neutralAxes(const Plan &plan) {
  Names spoken, neutral;
  for (Degree name : {Degree::ep, Degree::attention_tp})
    if (plan.has(name) && !plan.axesOf(name).empty() &&
        splittingAxes(plan, name).empty())
      spoken.push_back(plan.axesOf(name).front());
  for (Degree name : {Degree::tp, Degree::cp, Degree::dp})
    for (std::string &axis : plan.axesOf(name))
      if (hasOneDevice(plan, axis) && !contains(spoken, axis))
        neutral.push_back(std::move(axis));
  return neutral;
}

/// Erases the axes `names`. Degrees that lose all of their axes are erased too,
/// and with ep also etp and edp.
static void eraseAxes(Plan &plan, const Names &names) {
  auto isNamed = [&](const std::string &name) { return contains(names, name); };
  auto isOfThem = [&](const PlanDegree &degree) {
    return !degree.axes.empty() && degree.name != nameOf(Degree::etp) &&
           degree.name != nameOf(Degree::edp) &&
           std::all_of(degree.axes.begin(), degree.axes.end(), isNamed);
  };
  plan.degrees.erase(
      std::remove_if(plan.degrees.begin(), plan.degrees.end(), isOfThem),
      plan.degrees.end());
  plan.axes.erase(
      std::remove_if(plan.axes.begin(), plan.axes.end(),
                     [&](const PlanAxis &axis) { return isNamed(axis.name); }),
      plan.axes.end());
  for (PlanDegree &degree : plan.degrees)
    degree.axes.erase(
        std::remove_if(degree.axes.begin(), degree.axes.end(), isNamed),
        degree.axes.end());
}

std::vector<std::string> autopar::plan::dropNeutralAxes(Plan &plan) {
  Names neutral = neutralAxes(plan);
  eraseAxes(plan, neutral);
  if (!plan.has(Degree::tp))
    plan.sequenceParallel = false;
  if (!plan.has(Degree::cp))
    plan.contextKind.reset();
  if (!splitsAny(plan, {Degree::dp, Degree::cp, Degree::edp})) {
    plan.fsdp = false;
    plan.training.zero.reset();
  }
  if (splittingAxes(plan, Degree::ep).empty()) {
    plan.dispatchByNode = false;
    plan.dispatchDtype.reset();
  }
  return neutral;
}
