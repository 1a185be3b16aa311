//===- Plan.cpp -----------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Plan/Plan.h"

#include "autopar/Support/Checked.h"

#include <algorithm>
#include <array>

using namespace autopar;
using namespace autopar::placement;
using namespace autopar::plan;
using namespace autopar::program;
using namespace autopar::schedule;

const PlanAxis *Plan::axis(std::string_view name) const {
  auto it = std::find_if(axes.begin(), axes.end(), [&](const PlanAxis &axis) {
    return axis.name == name;
  });
  return it == axes.end() ? nullptr : &*it;
}

PlanAxis *Plan::axis(std::string_view name) {
  return const_cast<PlanAxis *>(std::as_const(*this).axis(name));
}

void Plan::setAxis(std::string name, std::optional<int64_t> size) {
  if (PlanAxis *known = axis(name))
    known->size = size;
  else
    axes.push_back({std::move(name), size});
}

const PlanDegree *Plan::degree(std::string_view name) const {
  auto it = std::find_if(
      degrees.begin(), degrees.end(),
      [&](const PlanDegree &degree) { return degree.name == name; });
  return it == degrees.end() ? nullptr : &*it;
}

void Plan::setDegree(std::string name, std::vector<std::string> axes) {
  if (const PlanDegree *known = degree(name))
    const_cast<PlanDegree *>(known)->axes = std::move(axes);
  else
    degrees.push_back({std::move(name), std::move(axes)});
}

std::vector<std::string> Plan::axesOf(std::string_view name) const {
  if (const PlanDegree *known = degree(name))
    return known->axes;
  if (axis(name))
    return {std::string(name)};
  if (name == nameOf(Degree::attention_tp) ||
      (name == nameOf(Degree::etp) && !has(Degree::ep)))
    return axesOf(Degree::tp);
  bool areReplicas = name == nameOf(Degree::fsdp) ||
                     (name == nameOf(Degree::edp) && !has(Degree::ep));
  if (!areReplicas)
    return {};
  std::vector<std::string> replicas = axesOf(Degree::dp),
                           context = axesOf(Degree::cp);
  replicas.insert(replicas.end(), context.begin(), context.end());
  return replicas;
}

/// Returns the product of the sizes of `axes`; nothing if a size is absent.
static std::optional<int64_t> productOf(const Plan &plan,
                                        const std::vector<std::string> &axes) {
  Checked product = 1;
  for (const std::string &name : axes) {
    const PlanAxis *axis = plan.axis(name);
    if (!axis || !axis->size)
      return std::nullopt;
    product *= *axis->size;
  }
  return product.int64();
}

std::optional<int64_t> Plan::sizeOf(std::string_view name) const {
  if (const PlanDegree *known = degree(name))
    return productOf(*this, known->axes);
  if (const PlanAxis *known = axis(name))
    return known->size;
  return productOf(*this, axesOf(name));
}

std::optional<int64_t> Plan::strideOf(std::string_view name) const {
  std::vector<std::string> inside;
  for (auto it = axes.rbegin(); it != axes.rend() && it->name != name; ++it)
    inside.push_back(it->name);
  return productOf(*this, inside);
}

std::optional<int64_t> Plan::devices() const {
  std::vector<std::string> all;
  for (const PlanAxis &axis : axes)
    all.push_back(axis.name);
  return productOf(*this, all);
}

//===----------------------------------------------------------------------===//
// Names of choices
//===----------------------------------------------------------------------===//

static constexpr std::array<std::string_view, 6> optimizers = {
    "adamw", "adamw_8bit", "adafactor", "muon", "sgd", "sgd_without_momentum"};

std::string_view autopar::plan::nameOf(Optimizer optimizer) {
  return optimizers[static_cast<size_t>(optimizer)];
}

/// Returns the value whose name is `text`, whether `text` has hyphens or
/// underscores.
template <typename Word, size_t count>
static std::optional<Word>
parseWord(const std::array<std::string_view, count> &names,
          std::string_view text) {
  std::string name(text);
  std::replace(name.begin(), name.end(), '-', '_');
  auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end())
    return std::nullopt;
  return static_cast<Word>(found - names.begin());
}

std::optional<Optimizer> autopar::plan::parseOptimizer(std::string_view text) {
  return parseWord<Optimizer>(optimizers, text);
}

static constexpr std::array<std::string_view, 3> contextKinds = {
    "ring", "all_to_all", "all_gather"};

std::string_view autopar::plan::nameOf(ContextKind kind) {
  return contextKinds[static_cast<size_t>(kind)];
}

std::optional<ContextKind>
autopar::plan::parseContextKind(std::string_view text) {
  return parseWord<ContextKind>(contextKinds, text);
}
