//===- Figures.h - Numbers with unit and source in JSON ---------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the readers of hardware/ and runtimes/ share. A figure is
// {"value": 4, "unit": "us", "source": {"kind": ..., "reference": ...}}.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_HARDWARE_FIGURES_H
#define AUTOPAR_HARDWARE_FIGURES_H

#include "autopar/Hardware/Hardware.h"
#include "autopar/Support/Library.h"

namespace autopar::hardware {

/// The unit that a field is in, and the values that make sense in it.
struct UnitRange {
  std::string_view unit;
  double min, max;
};
namespace units {
inline constexpr UnitRange bytes{"B", 0, 1e18};
/// A memory, which is never empty.
inline constexpr UnitRange memory{"B", 1, 1e18};
inline constexpr UnitRange bytesPerSecond{"B/s", 1, 1e18};
inline constexpr UnitRange flopsPerSecond{"FLOP/s", 1, 1e21};
inline constexpr UnitRange microseconds{"us", 0, 1e9};
/// An efficiency, which nothing divides by zero with.
inline constexpr UnitRange fraction{"1", 1e-6, 1};
/// Of Zipf's law, whose sum over experts has a limit.
inline constexpr UnitRange exponent{"1", 0, 0.99};
inline constexpr UnitRange count{"1", 1, 1e12};
inline constexpr UnitRange countOrNone{"1", 0, 1e12};
/// Whether something is so.
inline constexpr UnitRange noneOrOne{"1", 0, 1};
/// Of something, of which there may be none.
inline constexpr UnitRange share{"1", 0, 1};
inline constexpr UnitRange bytesEach{"B", 0, 1e6};
inline constexpr UnitRange watts{"W", 0, 1e6};
inline constexpr UnitRange dollarsPerHour{"USD/h", 0, 1e6};
} // namespace units

/// The object `source` of `reader`.
Source readSource(const JsonReader &reader);
/// The figure `key` of `reader`; its path is `path`.`key`.
Figure readFigure(const JsonReader &reader, std::string_view key,
                  UnitRange unit, const std::string &path);

/// Nothing where `reader` has no `key`.
std::optional<Figure> readOptionalFigure(const JsonReader &reader,
                                         std::string_view key, UnitRange unit,
                                         const std::string &path);
/// Gives the document's own member "source" to all of its figures and curves
/// that have none. A text is a source of kind user.
void spreadSource(JsonDocument &document);

/// Applies the overrides below `prefix` ("chips.h100-sxm") to `document` and
/// marks them in `used`. A figure that files may leave out is added. A path
/// that leads to no number is an error naming the nearest that does.
std::optional<Error> applyOverrides(JsonDocument &document,
                                    const std::string &prefix,
                                    const std::vector<Override> &overrides,
                                    std::vector<bool> &used);
/// `error`, with the overrides below `prefix` in its note: the file alone does
/// not show the value that was refused.
Error explainOverrides(Error error, const std::string &prefix,
                       const std::vector<Override> &overrides);

} // namespace autopar::hardware

#endif // AUTOPAR_HARDWARE_FIGURES_H
