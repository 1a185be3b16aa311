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

/// The size of a degree that is requested but left open: '?'.
inline constexpr int64_t openDegree = INT64_MIN;

/// Number of devices of each kind of parallelism; absent if not requested.
struct Degrees {
  /// Tensor, context, data and expert parallelism.
  std::optional<int64_t> tp = std::nullopt, cp = std::nullopt,
                         dp = std::nullopt, ep = std::nullopt;
  /// Tensor parallelism inside an expert; absent means 1.
  std::optional<int64_t> etp = std::nullopt;
  /// Decode context parallelism: the part of tp that splits the KV cache by
  /// sequence.
  std::optional<int64_t> dcp = std::nullopt;
  /// The part of tp that attention uses; over the rest attention is
  /// data-parallel.
  std::optional<int64_t> attentionTp = std::nullopt;
  /// The part of dp*cp over which parameters, gradients or optimizer states are
  /// split; the rest has copies.
  std::optional<int64_t> fsdp = std::nullopt;
};

/// The mesh of `degrees`: axes, and every degree as a product of them (tp, cp,
/// dp; with ep also ep, etp and edp; dcp; attention_tp; fsdp), also if it is a
/// single axis. Errors name the rule, the numbers and the values that work.
Result<MeshPlan> planMesh(const Degrees &degrees);

/// If ep is smaller than tp and etp is open, gives the remaining devices of tp
/// to etp, as engines do.
void fillExpertTensor(Degrees &degrees);

/// The degrees that `plan` has.
Degrees degreesOf(const Plan &plan);

/// Sets `plan.fsdp` if the plan says over how many replicas to split but not
/// what else is split over them (`TrainingPlan::zero`).
void splitAsAsked(Plan &plan);

/// Replaces tp, cp and dp of `plan` by the axes and degrees of `mesh`. Other
/// axes stay, outermost; equal axes keep their order.
void setMesh(Plan &plan, const MeshPlan &mesh);

/// Adds the degrees that follow from others: dp if there are axes `dpo` and
/// `dpi` (tp and cp likewise); with ep, etp = 1 and edp = the rest. Sorts them.
/// Errors: missing axes; tp, cp and dp that overlap; experts over other devices
/// than tp*cp*dp; dcp, attention_tp or fsdp that is no inner part.
std::optional<Error> completeDegrees(Plan &plan);

/// Refuses choices about something that the plan does not have. If it `trains`,
/// microbatches need no stages.
std::optional<Error> checkChoices(const Plan &plan, bool trains = false);
/// Refuses choices of training that contradict each other, or any of them if
/// nothing `trains`.
std::optional<Error> checkTrainingChoices(const Plan &plan, bool trains);

} // namespace autopar::plan

#endif // AUTOPAR_PLAN_DEGREES_H
