//===- PlanDegrees.cpp - What the degrees of a plan mean ------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Plan/Degrees.h"

#include "PlanPipeline.h"

#include "autopar/Support/Text.h"

#include <algorithm>
#include <array>

using namespace autopar;

using Names = std::vector<std::string>;

/// Those that the others are parts of, outermost first.
static constexpr std::array<const char *, 3> bases = {"dp", "cp", "tp"};

static bool contains(const Names &names, const std::string &name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// "dpi*tp"; "1" of none.
static std::string productText(const Names &axes) {
  return axes.empty() ? "1" : join(axes, "*");
}

/// The axes of dp, cp and tp.
static Names stageAxes(const Plan &plan) {
  Names all;
  for (const char *base : bases)
    for (std::string &axis : plan.axesOf(base))
      all.push_back(std::move(axis));
  return all;
}

//===----------------------------------------------------------------------===//
// To and from degrees
//===----------------------------------------------------------------------===//

Degrees autopar::degreesOf(const Plan &plan) {
  auto sizeOf = [&](const char *name) -> std::optional<int64_t> {
    if (!plan.has(name))
      return std::nullopt;
    return plan.sizeOf(name).value_or(openDegree);
  };
  Degrees degrees{sizeOf("tp"),          sizeOf("cp"), sizeOf("dp"),
                  sizeOf("ep"),          std::nullopt, sizeOf("dcp"),
                  sizeOf("attention_tp")};
  if (degrees.ep && !plan.axesOf("etp").empty())
    degrees.etp = sizeOf("etp");
  return degrees;
}

static Names namesOf(const std::vector<PlanAxis> &axes) {
  Names names;
  for (const PlanAxis &axis : axes)
    names.push_back(axis.name);
  return names;
}

void autopar::setMesh(Plan &plan, const MeshPlan &mesh) {
  Names replaced = stageAxes(plan), added = namesOf(mesh.axes);
  bool sameAxes = std::is_permutation(replaced.begin(), replaced.end(),
                                      added.begin(), added.end());
  if (!sameAxes)
    plan.axes.erase(std::remove_if(plan.axes.begin(), plan.axes.end(),
                                   [&](const PlanAxis &axis) {
                                     return contains(replaced, axis.name) ||
                                            contains(added, axis.name);
                                   }),
                    plan.axes.end());
  for (const PlanAxis &axis : mesh.axes)
    plan.setAxis(axis.name, axis.size);
  plan.degrees.erase(
      std::remove_if(plan.degrees.begin(), plan.degrees.end(),
                     [](const PlanDegree &degree) {
                       return std::find(degreeNames.begin(), degreeNames.end(),
                                        degree.name) != degreeNames.end();
                     }),
      plan.degrees.end());
  for (const PlanDegree &degree : mesh.degrees)
    if (!plan.axis(degree.name))
      plan.degrees.push_back(degree);
}

//===----------------------------------------------------------------------===//
// What follows
//===----------------------------------------------------------------------===//

/// Whether `name` is `base` with the suffix of a part: o, m, i or a number.
static bool isPartOf(std::string_view name, std::string_view base) {
  if (name.size() != base.size() + 1 || name.substr(0, base.size()) != base)
    return false;
  char suffix = name.back();
  return suffix == 'o' || suffix == 'm' || suffix == 'i' ||
         (suffix >= '0' && suffix <= '9');
}

static void addBases(Plan &plan) {
  for (const char *base : bases) {
    if (plan.has(base))
      continue;
    Names parts;
    for (const PlanAxis &axis : plan.axes)
      if (isPartOf(axis.name, base))
        parts.push_back(axis.name);
    if (!parts.empty())
      plan.setDegree(base, std::move(parts));
  }
}

static void addExpertDegrees(Plan &plan) {
  if (!plan.has("etp"))
    plan.setDegree("etp", {});
  if (plan.has("edp"))
    return;
  Names rest, experts = plan.axesOf("ep"), inner = plan.axesOf("etp");
  for (std::string &axis : stageAxes(plan))
    if (!contains(experts, axis) && !contains(inner, axis))
      rest.push_back(std::move(axis));
  plan.setDegree("edp", std::move(rest));
}

static void sortDegrees(Plan &plan) {
  auto keyOf = [](const PlanDegree &degree) {
    return std::pair(
        std::find(degreeNames.begin(), degreeNames.end(), degree.name),
        degree.name);
  };
  std::sort(plan.degrees.begin(), plan.degrees.end(),
            [&](const PlanDegree &a, const PlanDegree &b) {
              return keyOf(a) < keyOf(b);
            });
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

static std::optional<Error> checkFactors(const Plan &plan) {
  for (const PlanDegree &degree : plan.degrees) {
    if (plan.axis(degree.name))
      return Error{"", "degree '" + degree.name + "' has the name of an axis",
                   ""};
    for (auto it = degree.axes.begin(); it != degree.axes.end(); ++it) {
      if (!plan.axis(*it))
        return Error{"",
                     "degree '" + degree.name + "' has a factor '" +
                         shorten(*it) + "', which is no axis",
                     "axes: " + join(namesOf(plan.axes), ", ")};
      if (std::find(degree.axes.begin(), it, *it) != it)
        return Error{
            "", "degree '" + degree.name + "' has the axis '" + *it + "' twice",
            ""};
    }
  }
  return std::nullopt;
}

/// Refuses an axis that two of `names` share.
template <size_t size>
static std::optional<Error>
checkDisjoint(const Plan &plan, const std::array<const char *, size> &names) {
  for (size_t i = 0; i < size; ++i)
    for (size_t j = 0; j < i; ++j)
      for (const std::string &axis : plan.axesOf(names[i]))
        if (contains(plan.axesOf(names[j]), axis))
          return Error{"",
                       "axis '" + axis + "' is a part of both " + names[j] +
                           " and " + names[i],
                       std::string(names[i]) + " = " +
                           productText(plan.axesOf(names[i])) + ", " +
                           names[j] + " = " +
                           productText(plan.axesOf(names[j]))};
  return std::nullopt;
}

static std::optional<Error> checkExperts(const Plan &plan) {
  static constexpr std::array<const char *, 3> names = {"edp", "ep", "etp"};
  if (std::optional<Error> error = checkDisjoint(plan, names))
    return error;
  Names stage = stageAxes(plan), experts;
  std::string note = "tp*cp*dp = " + productText(stage) +
                     " and etp*ep*edp must be the same devices";
  for (const char *name : names)
    for (std::string &axis : plan.axesOf(name)) {
      if (!contains(stage, axis))
        return Error{"",
                     "axis '" + axis + "' of " + name +
                         " is no part of tp, cp or dp",
                     note + ": make it one, as in "
                            "--mesh=dpo=2,dpi=8,tp=8,ep=dpi*tp"};
      experts.push_back(std::move(axis));
    }
  for (const std::string &axis : stage)
    if (!contains(experts, axis))
      return Error{"", "axis '" + axis + "' is no part of etp, ep or edp",
                   note};
  return std::nullopt;
}

/// Refuses `name` where it is not the innermost axes of `whole`.
static std::optional<Error> checkInner(const Plan &plan, const char *name,
                                       const char *whole) {
  if (!plan.has(name))
    return std::nullopt;
  Names part = plan.axesOf(name), all = plan.axesOf(whole);
  if (part.size() <= all.size() &&
      std::equal(part.rbegin(), part.rend(), all.rbegin()))
    return std::nullopt;
  return Error{"",
               std::string(name) + " = " + productText(part) +
                   " is no inner part of " + whole + " = " + productText(all),
               "the innermost axes of " + std::string(whole) + " work"};
}

std::optional<Error> autopar::completeDegrees(Plan &plan) {
  if (std::optional<Error> error = checkFactors(plan))
    return error;
  addBases(plan);
  for (const char *name : {"etp", "edp"})
    if (plan.has(name) && !plan.has("ep"))
      return Error{"", std::string(name) + " needs ep", "give ep as well"};
  if (plan.has("ep"))
    addExpertDegrees(plan);
  sortDegrees(plan);
  if (std::optional<Error> error = checkDisjoint(plan, bases))
    return error;
  if (plan.has("ep"))
    if (std::optional<Error> error = checkExperts(plan))
      return error;
  if (std::optional<Error> error = checkInner(plan, "attention_tp", "tp"))
    return error;
  return checkInner(plan, "dcp",
                    plan.has("attention_tp") ? "attention_tp" : "tp");
}

std::optional<Error> autopar::checkChoices(const Plan &plan) {
  if (plan.contextKind && !plan.has("cp"))
    return Error{"",
                 "context_kind = " + std::string(nameOf(*plan.contextKind)) +
                     " says how context parallelism works: it needs cp",
                 "give --shard-cp=N as well"};
  if (plan.sequenceParallel && !plan.has("tp"))
    return Error{
        "",
        "sequence parallelism splits tokens over the devices of tensor "
        "parallelism: it needs tp",
        "give --shard-tp=N as well"};
  bool rings =
      plan.contextKind.value_or(ContextKind::ring) == ContextKind::ring;
  if (rings && plan.sizeOf("cp") > 1 && plan.sizeOf("dcp") > 1)
    return Error{"",
                 "cp = " + std::to_string(*plan.sizeOf("cp")) +
                     " sends the KV cache around a ring, and dcp = " +
                     std::to_string(*plan.sizeOf("dcp")) +
                     " splits its tokens over other devices: not both",
                 "give --cp-kind=all-to-all, --shard-dcp=1 or --shard-cp=1"};
  if (plan.fsdp && !plan.has("dp") && !plan.has("cp") &&
      plan.sizeOf("edp") == 1)
    return Error{"",
                 "fsdp splits parameters over the replicas, dp*cp: it needs "
                 "dp or cp",
                 "give --shard-dp=N as well"};
  if ((plan.dispatchByNode || plan.dispatchDtype) && plan.axesOf("ep").empty())
    return Error{"",
                 std::string(plan.dispatchByNode ? "dispatch_by_node"
                                                 : "dispatch_dtype") +
                     " says how tokens travel to the devices of expert "
                     "parallelism: it needs ep",
                 "give --shard-ep=N as well"};
  if (plan.expertPlacement && plan.axesOf("ep").empty())
    return Error{"",
                 "experts are placed on the devices of expert parallelism: it "
                 "needs ep",
                 "give --shard-ep=N as well"};
  if (plan.expertPlacement)
    if (std::optional<Error> error = checkExpertPlan(*plan.expertPlacement))
      return error;
  return checkPipeline(plan);
}
