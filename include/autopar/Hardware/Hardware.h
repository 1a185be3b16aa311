//===- Hardware.h - Chips, systems, machines --------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_HARDWARE_HARDWARE_H
#define AUTOPAR_HARDWARE_HARDWARE_H

#include "autopar/Hardware/Algorithm.h"
#include "autopar/Program/CostProgram.h"
#include "autopar/Support/ElementType.h"
#include "autopar/Support/Json.h"

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace autopar::hardware {

/// The source of a figure. `kind` is one of datasheet, measured, derived,
/// recalled, user.
struct Source {
  std::string kind;
  std::string reference;
  /// For a user's figure, the value in the file.
  std::optional<double> replaced = std::nullopt;

  std::string str() const { return kind + ": " + reference; }
};

/// A number of `hardware/` or `runtimes/`, in the unit of its schema. Users
/// override it by its path: "chips.h100-sxm.memory_bandwidth".
struct Figure {
  double value = 0;
  Source source;
  std::string path;

  /// The value in the file, at which curves were measured.
  double fileValue() const { return source.replaced.value_or(value); }
  /// Whether a user replaced the file's.
  bool isGiven() const { return source.replaced.has_value(); }
};

/// Measured time of kernels of each shape over the roofline of their curve: a
/// grid of ratios, linear between its knots and constant outside.
struct ShapeTable {
  /// A size of the shape, such as "rows", and its knots, sorted.
  struct Coordinate {
    std::string of;
    std::vector<double> at;
  };
  /// First the coordinates that symbols change, whose knots are powers of two,
  /// then those that a layout fixes.
  std::vector<Coordinate> coordinates;
  /// The last coordinate varies fastest.
  std::vector<double> ratios;
  /// As in `KernelCurve`, on shapes that the table was not made from.
  double medianError = 0, p90Error = 0;

  /// The names of coordinates, in order, for a kernel that may have a table;
  /// empty for others.
  static std::vector<std::string_view> namesOf(program::KernelKind kernel,
                                               program::ShapeKind kind);
  /// The number of coordinates that symbols change.
  static size_t varyingOf(program::KernelKind kernel);
};

/// The slice of a table after a layout has fixed its coordinates: ratios at
/// each power of two from the first knot to the last, for one or two
/// coordinates.
struct ShapeGrid {
  struct Side {
    int first = 0, last = 0;
    size_t size() const { return static_cast<size_t>(last - first) + 1; }
  };
  Side x, y;
  /// `y` varies fastest.
  std::vector<double> ratios;
};
/// Slices `table`; `fixed` has the sizes of its last coordinates.
ShapeGrid reduce(const ShapeTable &table, const std::vector<double> &fixed);

/// Time of a kernel:
///
///     t = floor + ((flops / (compute_efficiency * peak))^q
///                + (bytes / (memory_efficiency * bandwidth))^q)^(1/q) * ratio
///
/// with the ratio of the shape if there is a table of it, else 1. Fitted to
/// measured kernels by scripts/calibration/fit.py. q is one of 1, 1.5, 2, 3, 4.
/// If tiles are known, flops are those of whole waves of tiles.
struct KernelCurve {
  double floorUs = 0;
  double computeEfficiency = 1;
  double memoryEfficiency = 1;
  double exponent = 1;
  /// Queries of a head per tile, and number of tiles at once, one per
  /// processor; 0 if not known.
  int64_t tileQueries = 0, tileSlots = 0;
  /// Keys per tile, if the keys of a tile of queries are split among idle
  /// processors; else 0.
  int64_t tileKeys = 0;
  /// Processors among which keys are split evenly. 0: whole tiles are split, as
  /// often as they fit at once.
  int64_t tileSplitSlots = 0;
  /// Median and 90th percentile of |predicted/measured - 1|, with the curve's
  /// tables of shapes; absent if the curve is not a fit.
  std::optional<double> medianError, p90Error;
  /// Largest FLOPs and bytes of a fitted launch; 0 if the curve is not a fit.
  double fittedFlops = 0, fittedBytes = 0;
  /// Tables by `ShapeKind`; null where not measured.
  std::array<std::shared_ptr<const ShapeTable>, program::shapeKindCount>
      shapes = {};
  Source source;
  std::string path;
};

using KernelCurves =
    std::map<program::KernelKind, std::map<std::string, KernelCurve>>;

/// The software platforms of chips: the values of `Chip::platform`.
const std::vector<std::string> &platforms();
bool isPlatform(const std::string &name);

/// One accelerator.
struct Chip {
  std::string name, title;
  std::string platform = "cuda";
  /// The labelled size, and the bytes that software can use.
  Figure memoryLabel, memoryUsable;
  /// Device memory bandwidth, in bytes per second.
  Figure memoryBandwidth;
  /// Dense peak in FLOP per second, by `peakKeyOf(ElementType)`.
  std::map<std::string, Figure> peakFlops;
  /// By kernel kind, then by peak key or, for weights in another format than
  /// activations, both: "fp4_bf16"; key "" serves all formats.
  KernelCurves kernels;
  /// Curves of runtimes with their own kernels, by `Runtime::name`.
  std::map<std::string, KernelCurves> implementations;
  /// Share of the rates of `kernels` that iterations of training sustain;
  /// absent if they sustain all.
  std::optional<Figure> sustainedCompute = std::nullopt;
  /// Largest power of the board, and power while it waits, in W.
  std::optional<Figure> boardPower = std::nullopt, idlePower = std::nullopt;

  /// The peak for `type`, or for the next wider format that the chip has (fp8
  /// -> bf16 -> fp16 -> fp32); null if there is none.
  const Figure *peak(ElementType type) const;
  /// The format that multiplies weights in 4-bit floats (`storage`) with
  /// activations of `type`: fp8 if the chip has kernels for it, else `type`.
  /// For scans without a curve, f32.
  ElementType unitsOf(program::KernelKind kind, ElementType type,
                      std::optional<ElementType> storage) const;
  /// The name of a curve measured for this use, whether the chip has it or not:
  /// "grouped_matmul.fp4_bf16".
  std::string useOf(program::KernelKind kind, ElementType type,
                    std::optional<ElementType> storage = std::nullopt) const;
  /// The curve for `kind` and `type`, with the same fallback. Without one, a
  /// kernel has the curve of another kind (see `KernelKind`).
  const KernelCurve *
  curve(program::KernelKind kind, ElementType type,
        std::optional<ElementType> storage = std::nullopt) const;
};

/// Time of one collective by its buffer size, at sizes 2^firstLog2Bytes,
/// 2^(firstLog2Bytes+1), ...: interpolated in log-log, constant below, and
/// proportional to the bytes above.
struct CollectiveCurve {
  int firstLog2Bytes = 0;
  std::vector<double> timeUs;
  Source source;
  /// The measured times, if `timeUs` is scaled to links that the user set; else
  /// empty.
  std::vector<double> measuredUs = {};
};

using CollectiveCurves =
    std::map<program::CollectiveKind, std::map<int64_t, CollectiveCurve>>;

/// A level of the interconnect.
struct Tier {
  std::string name;
  /// Number of devices that reach each other on this tier, a multiple of the
  /// domain below.
  int64_t domain = 1;
  /// Bytes per second per device, in one direction.
  Figure bandwidth;
  /// Fraction of the bandwidth that a large transfer reaches.
  Figure efficiency;
  /// Latency of one hop in us, software included.
  Figure latency;
  /// Algorithms of its devices besides the rule of each kind (`ruleOf`).
  std::vector<Algorithm> algorithms;
  /// By kind and group size, for groups inside this tier.
  CollectiveCurves curves;
  /// Curves of runtimes with their own kernels, by `Runtime::collectives`.
  std::map<std::string, CollectiveCurves> implementations;
};

/// Scales the curves of `tier` to its figures if these differ from the file:
/// each time has a part that scales with bandwidth and efficiency, and one that
/// scales with latency.
void scaleCurves(Tier &tier);

/// Equal devices with equal links between them.
struct Pool {
  Chip chip;
  int64_t devicesPerNode = 1;
  int64_t nodes = 1;
  /// Fastest first.
  std::vector<Tier> tiers;

  int64_t devices() const { return devicesPerNode * nodes; }
};

/// The interpretation of a name that is no system's exact name.
struct TakenName {
  std::string asked, system;
  /// Other systems that the name fits.
  std::vector<std::string> others;

  /// The interpretation in words: "for 'h100' (or: h100-pcie-8, h100-nvl-8)".
  std::string str() const;
};

/// The spread of measured chips for one kernel and format: the largest
/// efficiency over the smallest.
struct CurveSpread {
  double compute = 1, memory = 1;
};

/// The machine of a plan.
struct Machine {
  std::string name, title;
  std::vector<Pool> pools;
  /// Price per device, in USD per hour.
  std::optional<Figure> price = std::nullopt;
  std::optional<TakenName> taken = std::nullopt;
  /// For a machine file in short form, the figures that it takes from the
  /// library, and where from; "" for a complete file.
  std::string derived = {};
  /// By use ("matmul.bf16"), if several chips of the library were measured and
  /// the machine's chip borrows their curves.
  std::map<std::string, CurveSpread> spreads = {};

  int64_t devices() const;
  /// Switches to the kernels of `runtime` and the collectives of `collectives`,
  /// where those were measured.
  void useImplementations(const std::string &runtime,
                          const std::string &collectives);
};

/// `--set path=value`: replaces the value of a figure and marks it as the
/// user's. Paths: chips.<name>.<field>, systems.<name>.<field>,
/// runtimes.<name>.<field>; nested fields are separated by dots. `*` stands for
/// any name.
struct Override {
  std::string path;
  double value = 0;

  bool operator==(const Override &other) const {
    return path == other.path && value == other.value;
  }
};
/// The owner in a path: "chips.h100-sxm".
std::string ownerOf(const Override &override);
Result<Override> parseOverride(std::string_view text);
/// Parses all texts; returns the first error.
Result<std::vector<Override>>
parseOverrides(const std::vector<std::string> &texts);

struct System;

/// The library of chips and systems: files of `dataDirectory("hardware")`, read
/// on demand.
class HardwareLibrary {
public:
  explicit HardwareLibrary(std::vector<Override> overrides = {});

  std::vector<std::string> chipNames() const;
  std::vector<std::string> systemNames() const;
  /// Finds a chip by name, or by path of a file (which may refer to a chip of
  /// the library or of a file beside it).
  Result<Chip> chip(const std::string &nameOrPath) const;
  /// Makes the machine of a system with `nodes` nodes. More than one needs a
  /// scale-out tier. `names.json` resolves names that fit several systems, such
  /// as "h100".
  Result<Machine> machine(const std::string &nameOrPath,
                          int64_t nodes = 1) const;
  /// Writes an `autopar.node/1` for users to edit: `name`, like the chip or
  /// system `base`.
  Result<std::string> draftNode(const std::string &base,
                                const std::string &name) const;
  /// Chips and systems whose names have all words of `text`.
  std::vector<std::string> fitting(const std::string &text) const;
  /// Returns an error for an override that neither a file read so far nor one
  /// of `elsewhere` ("chips.h100-sxm") has used. The error names the nearest
  /// path.
  std::optional<Error>
  unusedOverride(const std::set<std::string> &elsewhere = {}) const;

private:
  /// Makes the machine of `system` and its `chip`, with `nodes` nodes.
  Result<Machine> makeMachine(System system, Chip chip, int64_t nodes) const;
  /// Makes the machine of a document of `autopar.node/1`.
  Result<Machine> nodeMachine(const JsonDocument &document,
                              int64_t nodes) const;

  std::vector<Override> overrides;
  mutable std::vector<bool> used;
  std::string directory;
};

} // namespace autopar::hardware

#endif // AUTOPAR_HARDWARE_HARDWARE_H
