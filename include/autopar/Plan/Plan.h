//===- Plan.h - How a model is split: autopar.plan/1 ------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_PLAN_PLAN_H
#define AUTOPAR_PLAN_PLAN_H

#include "autopar/Support/ElementType.h"
#include "autopar/Support/Json.h"

#include <optional>
#include <string>
#include <vector>

namespace autopar {

/// An axis of the mesh. A size that is absent prints as `?`.
struct PlanAxis {
  std::string name;
  std::optional<int64_t> size;
};

/// A degree with a name of its own: a product of axes, `ep = dpi*tp`.
struct PlanDegree {
  std::string name;
  std::vector<std::string> axes;
};

/// The choices that turn a model into a parallel program. Flags and files only
/// fill one of these; passes take their options from it; reports embed it.
/// Absent means: as the module, or else the runtime, has it.
struct Plan {
  /// Outermost first: the last axis runs over the fastest links.
  std::vector<PlanAxis> axes;
  std::vector<PlanDegree> degrees;
  std::optional<ElementType> dtype, kvDtype;
  /// The runtime's share of device memory, 0 to 1.
  std::optional<double> memoryUtilization;

  /// The axis called `name`, or null.
  const PlanAxis *axis(std::string_view name) const;
  PlanAxis *axis(std::string_view name);
  /// Sets the size of axis `name`, adding it innermost where it is new.
  void setAxis(std::string name, std::optional<int64_t> size);
  /// Product of all axis sizes; nothing where one is absent.
  std::optional<int64_t> devices() const;
};

/// Reads `autopar.plan/1`. Unknown keys are refused.
Result<Plan> readPlan(const JsonDocument &document);
/// The plan as `autopar.plan/1`, which `readPlan` reads back unchanged.
std::string writePlan(const Plan &plan);
/// Parses `tp=8` or `pp=4,tp=?` as `--mesh` takes it.
Result<std::vector<PlanAxis>> parseMesh(std::string_view text);

} // namespace autopar

#endif // AUTOPAR_PLAN_PLAN_H
