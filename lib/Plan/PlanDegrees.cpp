//===- PlanDegrees.cpp - Definitions of a plan's degrees ------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Plan/Degrees.h"

#include "PlanPipeline.h"
#include "autopar/Plan/PlanKnobs.h"
#include "autopar/Support/Text.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>

using namespace autopar;
using namespace autopar::placement;
using namespace autopar::plan;
using namespace autopar::program;
using namespace autopar::schedule;

using Names = std::vector<std::string>;

/// The degrees that the other degrees are parts of, outermost first.
static constexpr std::array<Degree, 3> bases = {Degree::dp, Degree::cp,
                                                Degree::tp};

static bool contains(const Names &names, const std::string &name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Returns the text of a product of axes: "dpi*tp", or "1" without axes.
static std::string productText(const Names &axes) {
  return axes.empty() ? "1" : join(axes, "*");
}

/// Returns the axes of dp, cp and tp.
static Names stageAxes(const Plan &plan) {
  Names all;
  for (Degree base : bases)
    for (std::string &axis : plan.axesOf(base))
      all.push_back(std::move(axis));
  return all;
}

//===----------------------------------------------------------------------===//
// Conversion between degrees and axes
//===----------------------------------------------------------------------===//

Degrees autopar::plan::degreesOf(const Plan &plan) {
  auto sizeOf = [&](Degree name) -> std::optional<int64_t> {
    if (!plan.has(name))
      return std::nullopt;
    return plan.sizeOf(name).value_or(openDegree);
  };
  Degrees degrees{
      sizeOf(Degree::tp),           sizeOf(Degree::cp),  sizeOf(Degree::dp),
      sizeOf(Degree::ep),           std::nullopt,        sizeOf(Degree::dcp),
      sizeOf(Degree::attention_tp), sizeOf(Degree::fsdp)};
  if (degrees.ep && !plan.axesOf(Degree::etp).empty())
    degrees.etp = sizeOf(Degree::etp);
  return degrees;
}

void autopar::plan::fillExpertTensor(Degrees &degrees) {
  int64_t tp = degrees.tp.value_or(1), ep = degrees.ep.value_or(0);
  if (!degrees.etp && ep >= 1 && ep < tp && tp % ep == 0)
    degrees.etp = tp / ep;
}

void autopar::plan::splitAsAsked(Plan &plan) {
  plan.fsdp |= plan.has(Degree::fsdp) && plan.training.zero.value_or(0) == 0;
}

static Names namesOf(const std::vector<PlanAxis> &axes) {
  Names names;
  for (const PlanAxis &axis : axes)
    names.push_back(axis.name);
  return names;
}

void autopar::plan::setMesh(Plan &plan, const MeshPlan &mesh) {
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
                       return parseDegree(degree.name).has_value();
                     }),
      plan.degrees.end());
  for (const PlanDegree &degree : mesh.degrees)
    if (!plan.axis(degree.name))
      plan.degrees.push_back(degree);
}

//===----------------------------------------------------------------------===//
// Degrees that follow from others
//===----------------------------------------------------------------------===//

/// Returns whether `name` is `base` with the suffix of a part: o, m, i or a
/// number.
static bool isPartOf(std::string_view name, std::string_view base) {
  if (name.size() != base.size() + 1 || name.substr(0, base.size()) != base)
    return false;
  char suffix = name.back();
  return suffix == 'o' || suffix == 'm' || suffix == 'i' ||
         (suffix >= '0' && suffix <= '9');
}

static void addBases(Plan &plan) {
  for (Degree base : bases) {
    if (plan.has(base))
      continue;
    Names parts;
    for (const PlanAxis &axis : plan.axes)
      if (isPartOf(axis.name, nameOf(base)))
        parts.push_back(axis.name);
    if (!parts.empty())
      plan.setDegree(base, std::move(parts));
  }
}

static void addExpertDegrees(Plan &plan) {
  if (!plan.has(Degree::etp))
    plan.setDegree(Degree::etp, {});
  if (plan.has(Degree::edp))
    return;
  Names rest, experts = plan.axesOf(Degree::ep),
              inner = plan.axesOf(Degree::etp);
  for (std::string &axis : stageAxes(plan))
    if (!contains(experts, axis) && !contains(inner, axis))
      rest.push_back(std::move(axis));
  plan.setDegree(Degree::edp, std::move(rest));
}

static void sortDegrees(Plan &plan) {
  auto keyOf = [](const PlanDegree &degree) {
    std::optional<Degree> known = parseDegree(degree.name);
    return std::tuple(!known, known, degree.name);
  };
  std::sort(plan.degrees.begin(), plan.degrees.end(),
            [&](const PlanDegree &a, const PlanDegree &b) {
              return keyOf(a) < keyOf(b);
            });
}

//===----------------------------------------------------------------------===//
// Checks of plans
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

/// Refuses an axis that belongs to two of `degrees`.
template <size_t size>
static std::optional<Error>
checkDisjoint(const Plan &plan, const std::array<Degree, size> &degrees) {
  auto name = [&](size_t i) { return std::string(nameOf(degrees[i])); };
  for (size_t i = 0; i < size; ++i)
    for (size_t j = 0; j < i; ++j)
      for (const std::string &axis : plan.axesOf(degrees[i]))
        if (contains(plan.axesOf(degrees[j]), axis))
          return Error{"",
                       "axis '" + axis + "' is a part of both " + name(j) +
                           " and " + name(i),
                       name(i) + " = " + productText(plan.axesOf(degrees[i])) +
                           ", " + name(j) + " = " +
                           productText(plan.axesOf(degrees[j]))};
  return std::nullopt;
}

static std::optional<Error> checkExperts(const Plan &plan) {
  static constexpr std::array<Degree, 3> names = {Degree::edp, Degree::ep,
                                                  Degree::etp};
  if (std::optional<Error> error = checkDisjoint(plan, names))
    return error;
  Names stage = stageAxes(plan), experts;
  auto note = [&] {
    return "tp*cp*dp = " + productText(stage) +
           " and etp*ep*edp must be the same devices";
  };
  for (Degree name : names)
    for (std::string &axis : plan.axesOf(name)) {
      if (!contains(stage, axis))
        return Error{"",
                     "axis '" + axis + "' of " + std::string(nameOf(name)) +
                         " is no part of tp, cp or dp",
                     note() + ": make it one, as in "
                              "--mesh=dpo=2,dpi=8,tp=8,ep=dpi*tp"};
      experts.push_back(std::move(axis));
    }
  for (const std::string &axis : stage)
    if (!contains(experts, axis))
      return Error{"", "axis '" + axis + "' is no part of etp, ep or edp",
                   note()};
  return std::nullopt;
}

/// Refuses the degree `name` if its axes are not the innermost ones of `all`,
/// which are the axes of `whole`.
static std::optional<Error> checkInner(const Plan &plan, Degree name,
                                       const Names &all,
                                       const std::string &whole) {
  if (!plan.has(name))
    return std::nullopt;
  Names part = plan.axesOf(name);
  if (part.size() <= all.size() &&
      std::equal(part.rbegin(), part.rend(), all.rbegin()))
    return std::nullopt;
  return Error{"",
               std::string(nameOf(name)) + " = " + productText(part) +
                   " is no inner part of " + whole + " = " + productText(all),
               "the innermost axes of " + whole + " work"};
}

std::optional<Error> autopar::plan::completeDegrees(Plan &plan) {
  if (std::optional<Error> error = checkFactors(plan))
    return error;
  addBases(plan);
  for (Degree name : {Degree::etp, Degree::edp})
    if (plan.has(name) && !plan.has(Degree::ep))
      return Error{"", std::string(nameOf(name)) + " needs ep",
                   "give ep as well"};
  if (plan.has(Degree::ep))
    addExpertDegrees(plan);
  sortDegrees(plan);
  if (std::optional<Error> error = checkDisjoint(plan, bases))
    return error;
  if (plan.has(Degree::ep))
    if (std::optional<Error> error = checkExperts(plan))
      return error;
  auto check = [&](Degree name, Degree whole) {
    return checkInner(plan, name, plan.axesOf(whole),
                      std::string(nameOf(whole)));
  };
  if (std::optional<Error> error = check(Degree::attention_tp, Degree::tp))
    return error;
  if (std::optional<Error> error = check(
          Degree::dcp,
          plan.has(Degree::attention_tp) ? Degree::attention_tp : Degree::tp))
    return error;
  Names replicas = plan.axesOf(Degree::dp);
  for (std::string &axis : plan.axesOf(Degree::cp))
    replicas.push_back(std::move(axis));
  return checkInner(plan, Degree::fsdp, replicas, "dp*cp");
}

/// Refuses a choice that has no effect in training, or none in inference.
static std::optional<Error> checkPhase(const PlanKnob &knob, const Plan &plan,
                                       bool trains) {
  std::string_view key = knob.key;
  bool ofTraining = key.rfind("training.", 0) == 0;
  bool ofServing = key == "kv_dtype" || key == "prefill_chunk";
  if ((trains ? !ofServing : !ofTraining) || knob.write(plan).is_null())
    return std::nullopt;
  if (trains)
    return Error{"",
                 std::string(key) + " is for inference: training keeps no KV "
                                    "cache, and computes whole sequences",
                 "leave out --" + std::string(knob.flag)};
  return Error{"",
               std::string(key.substr(key.find('.') + 1)) +
                   " is for training: serving drops no tokens, has no loss, "
                   "and predicts further tokens by a draft",
               "give --phase=train as well"};
}

std::optional<Error> autopar::plan::checkTrainingChoices(const Plan &plan,
                                                         bool trains) {
  const TrainingPlan &training = plan.training;
  for (const PlanKnob &knob : planKnobs())
    if (std::optional<Error> error = checkPhase(knob, plan, trains))
      return error;
  if (plan.fsdp && training.zero && *training.zero > 0 && *training.zero < 3)
    return Error{"",
                 "zero = " + std::to_string(*training.zero) +
                     " contradicts fsdp, which shards weights, gradients and "
                     "optimizer state",
                 "give --zero=" + std::to_string(*training.zero) +
                     " or --fsdp, not both"};
  if (training.padsExpertsToCapacity && !training.expertCapacityFactor)
    return Error{"", "pad_experts_to_capacity needs a capacity to pad to",
                 "give --expert-capacity-factor=1 as well"};
  if (training.mtpLayers && plan.expertPlacement)
    return Error{"",
                 "mtp_layers: the experts of layers that predict further "
                 "tokens cannot be placed yet",
                 "give no loads, traces or placements of experts"};
  return std::nullopt;
}

std::optional<Error> autopar::plan::checkChoices(const Plan &plan,
                                                 bool trains) {
  if (plan.contextKind && !plan.has(Degree::cp))
    return Error{"",
                 "context_kind = " + std::string(nameOf(*plan.contextKind)) +
                     " is a kind of context parallelism: it needs cp",
                 "give --shard-cp=N as well"};
  if (plan.sequenceParallel && !plan.has(Degree::tp))
    return Error{
        "",
        "sequence parallelism splits tokens over the devices of tensor "
        "parallelism: it needs tp",
        "give --shard-tp=N as well"};
  bool rings =
      plan.contextKind.value_or(ContextKind::ring) == ContextKind::ring;
  if (rings && plan.sizeOf(Degree::cp) > 1 && plan.sizeOf(Degree::dcp) > 1)
    return Error{"",
                 "cp = " + std::to_string(*plan.sizeOf(Degree::cp)) +
                     " sends the KV cache around a ring, and dcp = " +
                     std::to_string(*plan.sizeOf(Degree::dcp)) +
                     " splits its tokens over other devices: not both",
                 "give --cp-kind=all-to-all, --shard-dcp=1 or --shard-cp=1"};
  if (plan.has(Degree::fsdp) && !plan.fsdp &&
      plan.training.zero.value_or(0) == 0)
    return Error{
        "",
        "fsdp = " + productText(plan.axesOf(Degree::fsdp)) +
            " is the number of replicas to shard over: it needs fsdp or zero",
        "give --fsdp or --zero=1 as well"};
  if (plan.fsdp && !plan.has(Degree::dp) && !plan.has(Degree::cp) &&
      plan.sizeOf(Degree::edp) == 1)
    return Error{"",
                 "fsdp splits parameters over the replicas, dp*cp: it needs "
                 "dp or cp",
                 "give --shard-dp=N as well"};
  if ((plan.dispatchByNode || plan.dispatchDtype) &&
      plan.axesOf(Degree::ep).empty())
    return Error{
        "",
        std::string(plan.dispatchByNode ? "dispatch_by_node"
                                        : "dispatch_dtype") +
            " is about tokens that expert parallelism sends: it needs ep",
        "give --shard-ep=N as well"};
  if (plan.expertPlacement && plan.axesOf(Degree::ep).empty())
    return Error{"",
                 "experts are placed on the devices of expert parallelism: it "
                 "needs ep",
                 "give --shard-ep=N as well"};
  if (plan.expertPlacement)
    if (std::optional<Error> error = checkExpertPlan(*plan.expertPlacement))
      return error;
  return checkPipeline(plan, trains);
}
