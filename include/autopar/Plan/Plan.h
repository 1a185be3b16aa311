//===- Plan.h - The split of a model: autopar.plan/1 ------------*- C++ -*-===//
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

/// An axis of the mesh. A size that is still open is printed as `?`.
struct PlanAxis {
  std::string name;
  std::optional<int64_t> size;
};

/// A degree with a name: a product of axes, such as `ep = dpi*tp`. Without axes
/// it is 1.
struct PlanDegree {
  std::string name;
  std::vector<std::string> axes;
};

/// A mesh: its axes, outermost first, and named products of them.
struct MeshPlan {
  std::vector<PlanAxis> axes;
  std::vector<PlanDegree> degrees;
};

/// How context parallelism communicates: keys and values are passed around a
/// ring (ring attention), heads are exchanged for tokens (Ulysses), or keys and
/// values are gathered.
enum class ContextKind : uint8_t { ring, all_to_all, all_gather };
std::string_view nameOf(ContextKind kind);
/// Parses the name of a kind; "all-to-all" and "all-gather", the spelling of
/// flags, are accepted, too.
std::optional<ContextKind> parseContextKind(std::string_view text);

/// The optimizer of training, which determines the states that are kept for
/// each parameter.
enum class Optimizer : uint8_t {
  adamw,
  /// AdamW, with its two states in 8 bits.
  adamw_8bit,
  /// Keeps the means over the rows and over the columns of a matrix.
  adafactor,
  /// Keeps a momentum of each matrix; other parameters use AdamW.
  muon,
  /// Stochastic gradient descent with momentum.
  sgd,
  sgd_without_momentum,
};
std::string_view nameOf(Optimizer optimizer);
/// Parses the name of an optimizer; "adamw-8bit", the spelling of flags, is
/// accepted, too.
std::optional<Optimizer> parseOptimizer(std::string_view text);

/// A number format, or the choice of no format.
struct FormatOrNone {
  std::optional<ElementType> format;

  bool operator==(const FormatOrNone &other) const {
    return format == other.format;
  }
  bool operator!=(const FormatOrNone &other) const { return !(*this == other); }
};

/// The choices of a training iteration that do not concern its forward.
/// Defaults of absent choices: no recomputation, AdamW with unsplit states.
struct TrainingPlan {
  std::optional<program::Recomputation> recompute = std::nullopt;
  /// A recomputation that did not fit and was tried before `recompute` was
  /// chosen, and the bytes by which it did not fit.
  struct Tried {
    program::Recomputation what;
    int64_t missingBytes = 0;
  };
  std::vector<Tried> tried = {};
  std::optional<Optimizer> optimizer = std::nullopt;
  /// ZeRO stage: 0 splits nothing over the replicas, 1 splits optimizer states,
  /// 2 also gradients, 3 also weights (like `Plan::fsdp`).
  std::optional<int64_t> zero = std::nullopt;
  /// Number format in which gradients are summed; absent means fp32.
  std::optional<ElementType> gradientFormat = std::nullopt;
  /// Number format of the master copy of each weight, or none if there is no
  /// copy; absent means fp32.
  std::optional<FormatOrNone> masterFormat = std::nullopt;
  /// Number format of the optimizer states; absent means fp32.
  std::optional<ElementType> stateFormat = std::nullopt;
  /// Number format in which matmuls with weights multiply; absent means that of
  /// their operands.
  std::optional<ElementType> productFormat = std::nullopt;
  /// Probability that dropout zeroes an element; absent means 0.
  std::optional<double> dropout = std::nullopt;
  /// Largest number of tokens that an expert accepts, over its even share of
  /// the tokens that a rank routes per microbatch (`ExpertCapacity`); absent
  /// means no limit. With `padsExpertsToCapacity`, experts always compute that
  /// many rows.
  std::optional<double> expertCapacityFactor = std::nullopt;
  bool padsExpertsToCapacity = false;
  /// Number of extra heads that predict further tokens in training, each after
  /// a layer of its own (DeepSeek-V3, arXiv:2412.19437, section 2.2); absent
  /// means none.
  std::optional<int64_t> mtpLayers = std::nullopt;
  /// Whether attention writes its probabilities to memory, as kernels before
  /// FlashAttention did.
  bool unfusedAttention = false;
  /// How the loss is computed; absent means that each op writes its result to
  /// memory.
  std::optional<program::LossForm> loss = std::nullopt;
  /// Number of equal chunks of tokens whose scores, losses and gradients are
  /// computed one after the other; absent means 1.
  std::optional<int64_t> lossChunks = std::nullopt;
};

/// Pipeline parallelism: stages, which are the devices of axis `pp`, and the
/// schedule of microbatches. Defaults of absent choices: layers are divided by
/// cost, the rest as the schedule needs.
struct PipelinePlan {
  /// Number of virtual stages per device.
  std::optional<int64_t> interleave = std::nullopt;
  /// The range of layers of each virtual stage.
  std::vector<schedule::LayerRange> stages = {};
  std::optional<schedule::ScheduleKind> schedule = std::nullopt;
  /// `microbatches`: number of equal parts of the batch. `microBatch`:
  /// sequences of a replica per microbatch. A plan sets one of the two.
  std::optional<int64_t> microbatches = std::nullopt, microBatch = std::nullopt;

  bool isGiven() const {
    return interleave || !stages.empty() || schedule || microbatches ||
           microBatch;
  }
};

/// The choices that turn a model into a parallel program. Flags and files fill
/// in a plan; passes take their options from it; reports contain it. An absent
/// choice has the value of the module, or else that of the runtime.
struct Plan {
  /// The mesh axes, outermost first: the last axis runs over the fastest links.
  std::vector<PlanAxis> axes;
  /// Named products of axes; `Degrees.h` defines their names.
  std::vector<PlanDegree> degrees;
  /// Whether sequence parallelism splits the activations between the split
  /// matrices of a layer by token.
  bool sequenceParallel = false;
  /// Whether parameters are split over the replicas, or over the part
  /// `Degree::fsdp` of them, and gathered before use.
  bool fsdp = false;
  std::optional<ContextKind> contextKind = std::nullopt;
  /// Whether a routed token is sent once to each node, and from there to its
  /// experts.
  bool dispatchByNode = false;
  /// Number format of tokens that are sent to experts; absent means unchanged.
  std::optional<ElementType> dispatchDtype = std::nullopt;
  PipelinePlan pipeline = {};
  TrainingPlan training = {};
  std::optional<ElementType> dtype = std::nullopt, kvDtype = std::nullopt;
  std::optional<ExpertPlan> expertPlacement = std::nullopt;
  /// The share of device memory that the runtime may use, from 0 to 1.
  std::optional<double> memoryUtilization = std::nullopt;
  /// Prefill chunk: number of prompt tokens that a replica computes in one
  /// step, 0 for no limit; absent means the runtime's default.
  std::optional<int64_t> prefillChunk = std::nullopt;
  /// Largest number of sequences in the running batch of a replica; absent
  /// means the runtime's default.
  std::optional<int64_t> maxSequences = std::nullopt;
  /// Whether the runtime works without CUDA graphs.
  bool eager = false;

  /// Returns the axis with this name; null if there is none.
  const PlanAxis *axis(std::string_view name) const;
  const PlanAxis *axis(Degree degree) const { return axis(nameOf(degree)); }
  PlanAxis *axis(std::string_view name);
  /// Sets the size of axis `name`; if the axis is new, it becomes the
  /// innermost.
  void setAxis(std::string name, std::optional<int64_t> size);
  void setAxis(Degree degree, std::optional<int64_t> size) {
    setAxis(std::string(nameOf(degree)), size);
  }
  /// Sets the axes of degree `name`, which may be new.
  void setDegree(std::string name, std::vector<std::string> axes);
  void setDegree(Degree degree, std::vector<std::string> axes) {
    setDegree(std::string(nameOf(degree)), std::move(axes));
  }
  /// Returns the degree with this name; null if there is none.
  const PlanDegree *degree(std::string_view name) const;
  const PlanDegree *degree(Degree kind) const { return degree(nameOf(kind)); }
  /// Whether an axis or a degree has this name.
  bool has(std::string_view name) const { return axis(name) || degree(name); }
  bool has(Degree degree) const { return has(nameOf(degree)); }
  /// Returns the axes of an axis or degree, outermost first; none if the plan
  /// does not have it. Defaults: without ep, experts are split like dense
  /// layers (etp is tp, edp is dp*cp); without attention_tp, attention uses all
  /// of tp; without fsdp, parameters are split over all of dp*cp.
  std::vector<std::string> axesOf(std::string_view name) const;
  std::vector<std::string> axesOf(Degree degree) const {
    return axesOf(nameOf(degree));
  }
  /// Returns the product of the sizes of `axesOf`; nothing if a size is open.
  std::optional<int64_t> sizeOf(std::string_view name) const;
  std::optional<int64_t> sizeOf(Degree degree) const {
    return sizeOf(nameOf(degree));
  }
  /// Returns the distance, in devices, of neighbours along axis `name`: the
  /// product of the sizes of the axes inside it; nothing if one of these has no
  /// size.
  std::optional<int64_t> strideOf(std::string_view name) const;
  /// Returns the product of all axis sizes; nothing if one is open.
  std::optional<int64_t> devices() const;
};

/// Reads a plan in the format `autopar.plan/1`. Unknown keys are errors.
Result<Plan> readPlan(const JsonDocument &document);
/// Writes the plan in the format `autopar.plan/1`, which `readPlan` reads back
/// unchanged.
std::string writePlan(const Plan &plan);
/// Parses the value of `--mesh`: `tp=8`, `pp=4,tp=?` or `dpi=8,tp=8,ep=dpi*tp`.
/// A product may have axes that are not in the text.
Result<MeshPlan> parseMesh(std::string_view text);
/// Writes the mesh in the syntax of `parseMesh`, without degrees of no axes.
std::string meshText(const Plan &plan);

} // namespace autopar::plan

#endif // AUTOPAR_PLAN_PLAN_H
