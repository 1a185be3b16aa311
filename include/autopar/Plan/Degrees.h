//===- Degrees.h - Degrees of parallelism as products of axes ---*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The devices of a stage have two orders, outermost first: [dp, cp, tp] for
// dense layers and [edp, ep, etp] for routed experts, of equal products. The
// axes of the mesh are the common refinement of the cuts of both:
//
//   tp 8, dp 16, ep 64     dp           | tp
//                          dpo = 2 | dpi = 8 | tp = 8
//                          edp     | ep
//
// Names follow from the strategy, not from the sizes. An axis without a cut
// keeps its name; with one it is two axes (`dpo`, `dpi`), with two three
// (`tpo`, `tpm`, `tpi`), then `tp0`, `tp1`, ... The cuts:
// * edp | ep, at etp*ep from the inside, where ep is given: in dp where that is
//   at least tp*cp, else in cp where it is at least tp, else in tp;
// * ep | etp, at etp, where more than 1: in tp where that is at most tp, else
//   in cp where it is at most tp*cp, else in dp;
// * attention_tp and dcp, inner parts of tp, where given;
// * fsdp, an inner part of dp*cp, where given.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_PLAN_DEGREES_H
#define AUTOPAR_PLAN_DEGREES_H

#include "autopar/Plan/Plan.h"

#include <cstdint>
#include <optional>

namespace autopar::plan {

/// The size of a degree that the user asks for without a number: '?'.
inline constexpr int64_t openDegree = INT64_MIN;

/// The number of devices of each kind of parallelism; absent if the user did
/// not set it.
struct Degrees {
  /// Tensor, context, data and expert parallelism.
  std::optional<int64_t> tp = std::nullopt, cp = std::nullopt,
                         dp = std::nullopt, ep = std::nullopt;
  /// Tensor parallelism inside an expert; absent means 1.
  std::optional<int64_t> etp = std::nullopt;
  /// Decode context parallelism: the part of tp that splits the KV cache by
  /// sequence.
  std::optional<int64_t> dcp = std::nullopt;
  /// The part of tp over which attention is split; over the rest of tp,
  /// attention is data-parallel.
  std::optional<int64_t> attentionTp = std::nullopt;
  /// The part of dp*cp over which parameters, gradients or optimizer states are
  /// split; the rest of the replicas has copies.
  std::optional<int64_t> fsdp = std::nullopt;
};

/// Returns the mesh for `degrees`: the axes, and every degree as a product of
/// axes (tp, cp, dp; with ep also ep, etp and edp; dcp; attention_tp; fsdp),
/// even if it is a single axis. Errors name the rule, the numbers, and values
/// that work.
Result<MeshPlan> planMesh(const Degrees &degrees);

/// If ep is smaller than tp and etp is open, sets etp to tp/ep, as inference
/// runtimes do.
void fillExpertTensor(Degrees &degrees);

/// Returns the degrees that `plan` sets.
Degrees degreesOf(const Plan &plan);

/// Sets `plan.fsdp` if the plan says over how many replicas to split, but not
/// what else (`TrainingPlan::zero`) is split over them.
void splitAsAsked(Plan &plan);

/// Replaces tp, cp and dp of `plan` by the axes and degrees of `mesh`. Other
/// axes of the plan stay, outermost; axes that both have keep their order.
void setMesh(Plan &plan, const MeshPlan &mesh);

/// Adds the degrees that follow from others: dp if there are axes `dpo` and
/// `dpi` (tp and cp likewise); with ep, etp = 1 and edp = the rest. Sorts all
/// degrees. Errors: missing axes; tp, cp and dp that overlap; experts over
/// other devices than tp*cp*dp; dcp, attention_tp or fsdp that is not an inner
/// part of its degree.
std::optional<Error> completeDegrees(Plan &plan);

/// Returns an error for a choice about something that the plan does not have.
/// With `trains`, microbatches are allowed without stages.
std::optional<Error> checkChoices(const Plan &plan, bool trains = false);
/// Returns an error for training choices that contradict each other or, without
/// `trains`, for any training choice.
std::optional<Error> checkTrainingChoices(const Plan &plan, bool trains);

} // namespace autopar::plan

#endif // AUTOPAR_PLAN_DEGREES_H
