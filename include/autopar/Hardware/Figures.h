//===- Figures.h - Numbers with unit and source in JSON ---------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Shared parts of the readers of hardware/ and runtimes/. A figure is {"value":
// 4, "unit": "us", "source": {"kind": ..., "reference": ...}}.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_HARDWARE_FIGURES_H
#define AUTOPAR_HARDWARE_FIGURES_H

#include "autopar/Hardware/Hardware.h"
#include "autopar/Support/Library.h"

namespace autopar::hardware {

/// The unit of a field in hardware and runtime files, and the range of its
/// allowed values.
struct UnitRange {
  std::string_view unit;
  double min, max;
};
namespace units {
inline constexpr UnitRange bytes{"B", 0, 1e18};
/// The size of a memory, at least 1 byte.
inline constexpr UnitRange memory{"B", 1, 1e18};
inline constexpr UnitRange bytesPerSecond{"B/s", 1, 1e18};
inline constexpr UnitRange flopsPerSecond{"FLOP/s", 1, 1e21};
inline constexpr UnitRange microseconds{"us", 0, 1e9};
/// An efficiency. It is never 0, because formulas divide by it.
inline constexpr UnitRange fraction{"1", 1e-6, 1};
/// The exponent of Zipf's distribution: below 1, so that its sum over experts
/// has a limit.
inline constexpr UnitRange exponent{"1", 0, 0.99};
inline constexpr UnitRange count{"1", 1, 1e12};
inline constexpr UnitRange countOrNone{"1", 0, 1e12};
/// The range of a switch: 1 for yes, 0 for no.
inline constexpr UnitRange noneOrOne{"1", 0, 1};
/// A share between 0 and 1; 0 is allowed.
inline constexpr UnitRange share{"1", 0, 1};
inline constexpr UnitRange bytesEach{"B", 0, 1e6};
inline constexpr UnitRange watts{"W", 0, 1e6};
inline constexpr UnitRange dollarsPerHour{"USD/h", 0, 1e6};
} // namespace units

/// Reads the member `source` of a JSON object.
Source readSource(const JsonReader &reader);
/// Reads the figure `key` of a JSON object; users refer to the figure as
/// `path`.`key`.
Figure readFigure(const JsonReader &reader, std::string_view key,
                  UnitRange unit, const std::string &path);

/// Reads the figure `key` of a JSON object; returns nothing if it has no such
/// member.
std::optional<Figure> readOptionalFigure(const JsonReader &reader,
                                         std::string_view key, UnitRange unit,
                                         const std::string &path);
/// Copies the member "source" of the document to all of its figures and curves
/// without a source of their own. If it is a text, the copies are sources of
/// kind `user`.
void spreadSource(JsonDocument &document);

/// Replaces figures of `document` by the overrides whose path begins with
/// `prefix` ("chips.h100-sxm"), and marks these overrides in `used`. Adds a
/// figure that files may omit. Error: the path leads to no number; the error
/// names the nearest path.
std::optional<Error> applyOverrides(JsonDocument &document,
                                    const std::string &prefix,
                                    const std::vector<Override> &overrides,
                                    std::vector<bool> &used);
/// Returns `error` with a note that lists the overrides below `prefix`, because
/// the file does not show the refused value.
Error explainOverrides(Error error, const std::string &prefix,
                       const std::vector<Override> &overrides);

} // namespace autopar::hardware

#endif // AUTOPAR_HARDWARE_FIGURES_H
