//===- CostProgram.cpp ----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Program/CostProgram.h"

#include "autopar/Program/Workload.h"

#include <algorithm>

using namespace autopar;
using namespace autopar::placement;
using namespace autopar::program;

const std::vector<AxisId> *CostProgram::sequenceAxes(const Dims &dims) const {
  for (const Dim &dim : dims)
    for (SymbolId symbol : dim.extent.symbols)
      if (symbols[symbol] == "batch")
        return &dim.axes;
  return nullptr;
}

static bool isOfSequences(const Resident &resident) {
  return resident.kind == Resident::Kind::kv_cache ||
         resident.kind == Resident::Kind::state;
}

std::vector<AxisId> CostProgram::sequenceAxes() const {
  const std::vector<AxisId> *fewest = nullptr;
  auto visit = [&](const Dims &dims) {
    const std::vector<AxisId> *axes = sequenceAxes(dims);
    if (axes && (!fewest || axes->size() < fewest->size()))
      fewest = axes;
  };
  for (const Resident &resident : residents)
    if (isOfSequences(resident))
      visit(resident.shape);
  if (!keepsTokens())
    for (const Activation &activation : activations)
      visit(activation.shape);
  return fewest ? *fewest : std::vector<AxisId>();
}

std::vector<AxisId> CostProgram::lockStepAxes() const {
  std::vector<AxisId> joined;
  for (AxisId axis : sequenceAxes()) {
    auto joins = [&](const Collective &collective) {
      return std::find(collective.axes.begin(), collective.axes.end(), axis) !=
             collective.axes.end();
    };
    if (std::any_of(collectives.begin(), collectives.end(), joins))
      joined.push_back(axis);
  }
  return joined;
}

bool CostProgram::trains() const {
  return std::any_of(layers.begin(), layers.end(), [](const LayerKind &kind) {
    return kind.section == Section::backward;
  });
}

const Traffic *CostProgram::sharedExperts(const Kernel &kernel) const {
  // A capacity cuts the loads of experts, so that they count as even.
  if (kernel.kind != KernelKind::grouped_matmul || capacity || trains())
    return nullptr;
  for (const Traffic &traffic : kernel.traffic)
    if (traffic.topK != 0 && !traffic.shape.empty())
      return traffic.shape.front().axes.empty() ? nullptr : &traffic;
  return nullptr;
}

bool CostProgram::keepsTokens() const {
  return std::any_of(residents.begin(), residents.end(), isOfSequences);
}

bool autopar::program::areOneRun(const Kernel &a, const Kernel &b) {
  return a.fusionGroup == b.fusionGroup && a.layer == b.layer &&
         a.kind == b.kind && a.count == b.count;
}

std::string_view autopar::program::nameOf(Phase phase) {
  switch (phase) {
  case Phase::prefill:
    return "prefill";
  case Phase::decode:
    return "decode";
  case Phase::train:
    return "train";
  }
  return "";
}

std::optional<Phase> autopar::program::parsePhase(std::string_view text) {
  for (Phase phase : {Phase::prefill, Phase::decode, Phase::train})
    if (text == nameOf(phase))
      return phase;
  return std::nullopt;
}

std::string_view autopar::program::nameOf(Section section) {
  switch (section) {
  case Section::forward:
    return "forward";
  case Section::backward:
    return "backward";
  case Section::optimizer:
    return "optimizer";
  }
  return "";
}

std::string_view autopar::program::nameOf(KernelKind kind) {
  switch (kind) {
  case KernelKind::matmul:
    return "matmul";
  case KernelKind::grouped_matmul:
    return "grouped_matmul";
  case KernelKind::attention:
    return "attention";
  case KernelKind::attention_backward:
    return "attention_backward";
  case KernelKind::latent_attention:
    return "latent_attention";
  case KernelKind::elementwise:
    return "elementwise";
  case KernelKind::gather:
    return "gather";
  case KernelKind::scan:
    return "scan";
  case KernelKind::index:
    return "index";
  case KernelKind::encoder_attention:
    return "encoder_attention";
  case KernelKind::sparse_attention:
    return "sparse_attention";
  case KernelKind::batched_matmul:
    return "batched_matmul";
  case KernelKind::channel_scan:
    return "channel_scan";
  case KernelKind::hyper_pre:
    return "hyper_pre";
  case KernelKind::hyper_post:
    return "hyper_post";
  }
  return "";
}

std::string_view autopar::program::nameOf(FlopClass flopClass) {
  switch (flopClass) {
  case FlopClass::none:
    return "none";
  case FlopClass::linear:
    return "linear";
  case FlopClass::attention:
    return "attention";
  case FlopClass::recurrence:
    return "recurrence";
  case FlopClass::logits:
    return "logits";
  }
  return "";
}

std::string_view autopar::program::nameOf(CollectiveKind kind) {
  switch (kind) {
  case CollectiveKind::all_reduce:
    return "all_reduce";
  case CollectiveKind::all_gather:
    return "all_gather";
  case CollectiveKind::reduce_scatter:
    return "reduce_scatter";
  case CollectiveKind::all_to_all:
    return "all_to_all";
  case CollectiveKind::permute:
    return "permute";
  case CollectiveKind::ring:
    return "ring";
  }
  return "";
}

std::string_view autopar::program::nameOf(SplitRule rule) {
  switch (rule) {
  case SplitRule::plain:
    return "plain";
  case SplitRule::pad:
    return "pad";
  case SplitRule::cap:
    return "cap";
  case SplitRule::ring:
    return "ring";
  case SplitRule::any:
    return "any";
  }
  return "";
}

std::string_view autopar::program::nameOf(Resident::Kind kind) {
  switch (kind) {
  case Resident::Kind::weight:
    return "weight";
  case Resident::Kind::kv_cache:
    return "kv_cache";
  case Resident::Kind::state:
    return "state";
  case Resident::Kind::gradient:
    return "gradient";
  case Resident::Kind::optimizer:
    return "optimizer";
  }
  return "";
}

std::string_view autopar::program::nameOf(Traffic::Role role) {
  switch (role) {
  case Traffic::Role::weight:
    return "weight";
  case Traffic::Role::kv_cache:
    return "kv_cache";
  case Traffic::Role::state:
    return "state";
  case Traffic::Role::activation:
    return "activation";
  }
  return "";
}
