//===- Plan.h - How a model is split: autopar.plan/1 ------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_PLAN_PLAN_H
#define AUTOPAR_PLAN_PLAN_H

#include "autopar/Plan/Degree.h"
#include "autopar/Plan/ExpertPlan.h"
#include "autopar/Program/LossForm.h"
#include "autopar/Program/Recomputation.h"
#include "autopar/Schedule/Schedule.h"
#include "autopar/Schedule/Staging.h"
#include "autopar/Support/ElementType.h"
#include "autopar/Support/Json.h"

#include <optional>
#include <string>
#include <vector>

namespace autopar::plan {

/// An axis of the mesh. A size that is absent prints as `?`.
struct PlanAxis {
  std::string name;
  std::optional<int64_t> size;
};

/// A degree with a name of its own: a product of axes, `ep = dpi*tp`. Without
/// axes it is 1.
struct PlanDegree {
  std::string name;
  std::vector<std::string> axes;
};

/// Axes, outermost first, and products of them.
struct MeshPlan {
  std::vector<PlanAxis> axes;
  std::vector<PlanDegree> degrees;
};

/// How context parallelism brings queries and keys together: keys and values
/// go round (ring attention), heads are exchanged for tokens (Ulysses), or keys
/// and values are gathered.
enum class ContextKind : uint8_t { ring, all_to_all, all_gather };
std::string_view nameOf(ContextKind kind);
/// Also "all-to-all" and "all-gather", as flags have them.
std::optional<ContextKind> parseContextKind(std::string_view text);

/// What makes updates of gradients, and so what is kept for each parameter.
enum class Optimizer : uint8_t {
  adamw,
  /// Whose two states have 8 bits each.
  adamw_8bit,
  /// Which keeps means of the rows and of the columns of a matrix.
  adafactor,
  /// Which keeps a momentum of matrices; the rest has AdamW.
  muon,
  /// With momentum.
  sgd,
  sgd_without_momentum,
};
std::string_view nameOf(Optimizer optimizer);
/// Also "adamw-8bit", as flags have it.
std::optional<Optimizer> parseOptimizer(std::string_view text);

/// A format, or nothing that has one.
struct FormatOrNone {
  std::optional<ElementType> format;

  bool operator==(const FormatOrNone &other) const {
    return format == other.format;
  }
  bool operator!=(const FormatOrNone &other) const { return !(*this == other); }
};

/// What an iteration of training does beside its forward. Absent: nothing is
/// made again, AdamW whose states all replicas have.
struct TrainingPlan {
  std::optional<program::Recomputation> recompute = std::nullopt;
  /// What was tried before it, where it was chosen to fit.
  struct Tried {
    program::Recomputation what;
    int64_t missingBytes = 0;
  };
  std::vector<Tried> tried = {};
  std::optional<Optimizer> optimizer = std::nullopt;
  /// What is split over the replicas: 0 nothing, 1 what the optimizer keeps, 2
  /// gradients, too, 3 weights, too (as `Plan::fsdp`).
  std::optional<int64_t> zero = std::nullopt;
  /// Format in which gradients add up; fp32 where absent.
  std::optional<ElementType> gradientFormat = std::nullopt;
  /// Format of a master copy of each weight, no format where there is none;
  /// fp32 where absent.
  std::optional<FormatOrNone> masterFormat = std::nullopt;
  /// Format of what the optimizer keeps beside it; fp32 where absent.
  std::optional<ElementType> stateFormat = std::nullopt;
  /// What products with weights multiply in; their operands' where absent.
  std::optional<ElementType> productFormat = std::nullopt;
  /// Probability that an element is dropped; 0 where absent.
  std::optional<double> dropout = std::nullopt;
  /// What an expert takes at most of what a rank routes in a microbatch, in its
  /// even part (`ExpertCapacity`); any number where absent. Where experts are
  /// padded, each works on as many rows.
  std::optional<double> expertCapacityFactor = std::nullopt;
  bool padsExpertsToCapacity = false;
  /// Heads that predict further tokens in training, each behind a layer of its
  /// own (DeepSeek-V3, arXiv:2412.19437, section 2.2); none where absent.
  std::optional<int64_t> mtpLayers = std::nullopt;
  /// Attention writes its probabilities, as kernels before FlashAttention did.
  bool unfusedAttention = false;
  /// How the loss is computed; each op writes its result where absent.
  std::optional<program::LossForm> loss = std::nullopt;
  /// Equal parts of the tokens whose scores, losses and gradients of scores
  /// follow each other; one where absent.
  std::optional<int64_t> lossChunks = std::nullopt;
};

/// How layers lie on pipeline stages, the devices of axis `pp`, and how
/// microbatches go through them. Absent: by cost, and as the schedule needs.
struct PipelinePlan {
  /// Virtual stages of each device.
  std::optional<int64_t> interleave = std::nullopt;
  /// The layers of each virtual stage.
  std::vector<schedule::LayerRange> stages = {};
  std::optional<schedule::ScheduleKind> schedule = std::nullopt;
  /// Equal parts of the batch that follow each other; or how many sequences of
  /// a replica each has.
  std::optional<int64_t> microbatches = std::nullopt, microBatch = std::nullopt;

  bool isGiven() const {
    return interleave || !stages.empty() || schedule || microbatches ||
           microBatch;
  }
};

/// The choices that turn a model into a parallel program. Flags and files only
/// fill one of these; passes take their options from it; reports embed it.
/// Absent means: as the module, or else the runtime, has it.
struct Plan {
  /// Outermost first: the last axis runs over the fastest links.
  std::vector<PlanAxis> axes;
  /// `Degrees.h` says what their names mean.
  std::vector<PlanDegree> degrees;
  /// Activations between the split matrices of a layer are split by token.
  bool sequenceParallel = false;
  /// Parameters are split over the replicas, or the part of them that is
  /// `Degree::fsdp`, and gathered before use.
  bool fsdp = false;
  std::optional<ContextKind> contextKind = std::nullopt;
  /// Routed tokens go to each node once, and from there to their experts.
  bool dispatchByNode = false;
  /// Their format on the way to the experts; as they are where absent.
  std::optional<ElementType> dispatchDtype = std::nullopt;
  PipelinePlan pipeline = {};
  TrainingPlan training = {};
  std::optional<ElementType> dtype = std::nullopt, kvDtype = std::nullopt;
  std::optional<ExpertPlan> expertPlacement = std::nullopt;
  /// The runtime's share of device memory, 0 to 1.
  std::optional<double> memoryUtilization = std::nullopt;
  /// Tokens of prompts that a replica computes in one step, 0 for all of them;
  /// what the runtime does where absent.
  std::optional<int64_t> prefillChunk = std::nullopt;
  /// Sequences that a replica runs at once; the runtime's own where absent.
  std::optional<int64_t> maxSequences = std::nullopt;
  /// Whether the runtime captures no graphs.
  bool eager = false;

  /// The axis called `name`, or null.
  const PlanAxis *axis(std::string_view name) const;
  const PlanAxis *axis(Degree degree) const { return axis(nameOf(degree)); }
  PlanAxis *axis(std::string_view name);
  /// Sets the size of axis `name`, adding it innermost where it is new.
  void setAxis(std::string name, std::optional<int64_t> size);
  void setAxis(Degree degree, std::optional<int64_t> size) {
    setAxis(std::string(nameOf(degree)), size);
  }
  /// Gives degree `name` these axes, adding it where it is new.
  void setDegree(std::string name, std::vector<std::string> axes);
  void setDegree(Degree degree, std::vector<std::string> axes) {
    setDegree(std::string(nameOf(degree)), std::move(axes));
  }
  /// The degree called `name`, or null.
  const PlanDegree *degree(std::string_view name) const;
  const PlanDegree *degree(Degree kind) const { return degree(nameOf(kind)); }
  /// Whether an axis or a degree is called `name`.
  bool has(std::string_view name) const { return axis(name) || degree(name); }
  bool has(Degree degree) const { return has(nameOf(degree)); }
  /// The axes of axis or degree `name`, outermost first; none where the plan
  /// lacks it. Without ep, experts are split as dense layers: etp is tp, and
  /// edp dp*cp. Without attention_tp, attention uses all of tp; without fsdp,
  /// parameters are split over all of dp*cp.
  std::vector<std::string> axesOf(std::string_view name) const;
  std::vector<std::string> axesOf(Degree degree) const {
    return axesOf(nameOf(degree));
  }
  /// The product of `axesOf`; nothing where a size is absent.
  std::optional<int64_t> sizeOf(std::string_view name) const;
  std::optional<int64_t> sizeOf(Degree degree) const {
    return sizeOf(nameOf(degree));
  }
  /// Devices between neighbours along axis `name`: the product of the sizes
  /// inside it; nothing where one is absent.
  std::optional<int64_t> strideOf(std::string_view name) const;
  /// Product of all axis sizes; nothing where one is absent.
  std::optional<int64_t> devices() const;
};

/// Reads `autopar.plan/1`. Unknown keys are refused.
Result<Plan> readPlan(const JsonDocument &document);
/// The plan as `autopar.plan/1`, which `readPlan` reads back unchanged.
std::string writePlan(const Plan &plan);
/// Parses `tp=8`, `pp=4,tp=?` or `dpi=8,tp=8,ep=dpi*tp` as `--mesh` takes it.
/// The axes of a product may be others.
Result<MeshPlan> parseMesh(std::string_view text);
/// What `parseMesh` reads back; degrees of no axes are left out.
std::string meshText(const Plan &plan);

} // namespace autopar::plan

#endif // AUTOPAR_PLAN_PLAN_H
