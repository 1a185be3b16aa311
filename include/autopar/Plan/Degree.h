//===- Degree.h - The kinds of parallelism ----------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_PLAN_DEGREE_H
#define AUTOPAR_PLAN_DEGREE_H

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace autopar::plan {

/// The degrees of parallelism that have a meaning to autopar: pipeline stages;
/// tensor, context, data and expert parallelism; tensor parallelism inside an
/// expert, and copies of each expert; the part of tp that splits the KV cache
/// by sequence, and the part that attention uses; the part of the replicas over
/// which FSDP or ZeRO splits.
enum class Degree : uint8_t {
  pp,
  tp,
  cp,
  dp,
  ep,
  etp,
  edp,
  dcp,
  attention_tp,
  fsdp,
};

/// All degrees, in the order in which plans list them.
inline constexpr std::array<Degree, 10> allDegrees = {
    Degree::pp,  Degree::tp,  Degree::cp,  Degree::dp,           Degree::ep,
    Degree::etp, Degree::edp, Degree::dcp, Degree::attention_tp, Degree::fsdp};

/// Returns the name of a degree in axes, plans and reports: "attention_tp".
constexpr std::string_view nameOf(Degree degree) {
  constexpr std::array<std::string_view, allDegrees.size()> names = {
      "pp",  "tp",  "cp",  "dp",           "ep",
      "etp", "edp", "dcp", "attention_tp", "fsdp"};
  return names[static_cast<size_t>(degree)];
}

/// Returns the degree with this name; nothing if the name is a user's own.
constexpr std::optional<Degree> parseDegree(std::string_view name) {
  for (Degree degree : allDegrees)
    if (nameOf(degree) == name)
      return degree;
  return std::nullopt;
}

} // namespace autopar::plan

#endif // AUTOPAR_PLAN_DEGREE_H
