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

/// A degree that is asked for with its size left open: '?'.
inline constexpr int64_t openDegree = INT64_MIN;

/// How many devices each kind of parallelism uses; absent where not asked for.
struct Degrees {
  /// Tensor, context, data and expert parallelism.
  std::optional<int64_t> tp = std::nullopt, cp = std::nullopt,
                         dp = std::nullopt, ep = std::nullopt;
  /// Tensor parallelism inside an expert: 1 where absent.
  std::optional<int64_t> etp = std::nullopt;
  /// Decode context parallelism: the part of tp that splits the KV cache by
  /// sequence.
  std::optional<int64_t> dcp = std::nullopt;
  /// The part of tp that attention uses; over the rest it is data-parallel.
  std::optional<int64_t> attentionTp = std::nullopt;
  /// The part of dp*cp that parameters, gradients or optimizer states are split
  /// over; the rest has copies.
  std::optional<int64_t> fsdp = std::nullopt;
};

/// The mesh of `degrees`: axes, and every degree as a product of them (tp, cp,
/// dp; with ep also ep, etp and edp; dcp; attention_tp; fsdp), one that is an
/// axis itself too. Errors name the rule, the numbers and the values that work.
Result<MeshPlan> planMesh(const Degrees &degrees);

/// Beside an ep that is smaller than tp, gives the devices of tp that it leaves
/// to etp, as engines do, where nobody says what to do with them.
void fillExpertTensor(Degrees &degrees);

/// What `plan` has of them.
Degrees degreesOf(const Plan &plan);

/// Splits parameters where somebody says over how many replicas, and not what
/// else is split over them (`TrainingPlan::zero`).
void splitAsAsked(Plan &plan);

/// Gives `plan` the axes and degrees of `mesh` in place of its tp, cp and dp.
/// Other axes stay, outermost; equal axes keep their order.
void setMesh(Plan &plan, const MeshPlan &mesh);

/// Adds the degrees that follow from others: dp where there are axes `dpo` and
/// `dpi` (as tp and cp); with ep, etp = 1 and edp = the rest. Sorts them.
/// Errors: axes that do not exist; tp, cp and dp that overlap; experts over
/// other devices than tp*cp*dp; dcp, attention_tp or fsdp that is no inner
/// part.
std::optional<Error> completeDegrees(Plan &plan);

/// Refuses choices about something that the plan does not have. Microbatches of
/// what `trains` need no stages.
std::optional<Error> checkChoices(const Plan &plan, bool trains = false);
/// Refuses choices of training that contradict others, or where nothing
/// `trains`.
std::optional<Error> checkTrainingChoices(const Plan &plan, bool trains);

} // namespace autopar::plan

#endif // AUTOPAR_PLAN_DEGREES_H
