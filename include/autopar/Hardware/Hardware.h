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

/// Where a figure comes from. `kind` is one of datasheet, measured, derived,
/// recalled, user.
struct Source {
  std::string kind;
  std::string reference;
  /// Of a user's figure: what the file has in its place.
  std::optional<double> replaced = std::nullopt;

  std::string str() const { return kind + ": " + reference; }
};

/// A number of `hardware/` or `runtimes/`, in the unit that its schema fixes,
/// with the path it is overridden by: "chips.h100-sxm.memory_bandwidth".
struct Figure {
  double value = 0;
  Source source;
  std::string path;

  /// Without what the user set: what curves were measured at.
  double fileValue() const { return source.replaced.value_or(value); }
  /// Whether a user replaced the file's.
  bool isGiven() const { return source.replaced.has_value(); }
};

/// What kernels of each shape take over the roofline of their curve, measured:
/// a grid of ratios, linear between its knots and constant outside.
struct ShapeTable {
  /// One that goes by it: "rows", at these sizes, rising.
  struct Coordinate {
    std::string of;
    std::vector<double> at;
  };
  /// First those that symbols change, whose sizes are powers of two, then those
  /// that a layout fixes.
  std::vector<Coordinate> coordinates;
  /// The last coordinate fastest.
  std::vector<double> ratios;
  /// As of `KernelCurve`, on shapes that the table was not made of.
  double medianError = 0, p90Error = 0;

  /// The names of coordinates, in order, of a kernel that may have one; empty
  /// of others.
  static std::vector<std::string_view> namesOf(program::KernelKind kernel,
                                               program::ShapeKind kind);
  /// How many of those symbols change.
  static size_t varyingOf(program::KernelKind kernel);
};

/// What is left of a table where a layout has fixed all but what symbols
/// change: ratios at each power of two from the first knot to the last, of one
/// coordinate or two.
struct ShapeGrid {
  struct Side {
    int first = 0, last = 0;
    size_t size() const { return static_cast<size_t>(last - first) + 1; }
  };
  Side x, y;
  /// `y` fastest.
  std::vector<double> ratios;
};
/// `fixed`: sizes of the last coordinates of `table`.
ShapeGrid reduce(const ShapeTable &table, const std::vector<double> &fixed);

/// t = floor + ((flops / (compute_efficiency * peak))^q
///            + (bytes / (memory_efficiency * bandwidth))^q)^(1/q) * ratio
/// with the ratio of the shape where there is a table of it, else 1. Fitted to
/// measured kernels by scripts/calibration/fit.py. q is one of 1, 1.5, 2, 3, 4.
/// Where tiles are known, flops are those of whole waves of them.
struct KernelCurve {
  double floorUs = 0;
  double computeEfficiency = 1;
  double memoryEfficiency = 1;
  double exponent = 1;
  /// Attention computes so many queries of a head at once, and as many of these
  /// tiles as the chip has processors; 0 where that is not known.
  int64_t tileQueries = 0, tileSlots = 0;
  /// Keys that it goes over at once, where it splits those of a tile between
  /// processors that have none; 0 where it does not.
  int64_t tileKeys = 0;
  /// Processors that keys are split for, evenly; 0: whole tiles are split, as
  /// often as all have room at once.
  int64_t tileSplitSlots = 0;
  /// Median and 90th percentile of |predicted/measured - 1|, with the tables of
  /// shapes that it has; absent where the curve is not a fit.
  std::optional<double> medianError, p90Error;
  /// Largest FLOPs and bytes of a launch that the fit has seen; 0 where the
  /// curve is not a fit.
  double fittedFlops = 0, fittedBytes = 0;
  /// By `ShapeKind`; null where nobody measured them.
  std::array<std::shared_ptr<const ShapeTable>, program::shapeKindCount>
      shapes = {};
  Source source;
  std::string path;
};

using KernelCurves =
    std::map<program::KernelKind, std::map<std::string, KernelCurve>>;

/// One accelerator.
/// What software reaches chips by: the values of `Chip::platform`.
const std::vector<std::string> &platforms();
bool isPlatform(const std::string &name);

struct Chip {
  std::string name, title;
  std::string platform = "cuda";
  /// The size on the label, and what software can use of it; bytes.
  Figure memoryLabel, memoryUsable;
  /// Device memory bandwidth; bytes per second.
  Figure memoryBandwidth;
  /// Dense peak by `peakKeyOf(ElementType)`; FLOP per second.
  std::map<std::string, Figure> peakFlops;
  /// By kernel kind, then by peak key, or by those of weights and of what
  /// multiplies them, "fp4_bf16"; key "" serves all formats.
  KernelCurves kernels;
  /// Those of runtimes that have other kernels, by `Runtime::name`.
  std::map<std::string, KernelCurves> implementations;
  /// The share of the rates of `kernels` that iterations of training keep up;
  /// absent where all do.
  std::optional<Figure> sustainedCompute = std::nullopt;
  /// What the board may draw, and what it draws while it waits; W.
  std::optional<Figure> boardPower = std::nullopt, idlePower = std::nullopt;

  /// The peak that multiplies `type`, falling back to the next wider format
  /// the chip has (fp8 -> bf16 -> fp16 -> fp32); null where there is none.
  const Figure *peak(ElementType type) const;
  /// What multiplies weights in 4-bit floats (`storage`) with activations of
  /// `type`: fp8 where the chip has kernels for it, else `type`. f32 of scans
  /// where the chip has no curve for them.
  ElementType unitsOf(program::KernelKind kind, ElementType type,
                      std::optional<ElementType> storage) const;
  /// What a curve measured for this use is called, whether the chip has one or
  /// not: "grouped_matmul.fp4_bf16".
  std::string useOf(program::KernelKind kind, ElementType type,
                    std::optional<ElementType> storage = std::nullopt) const;
  /// The curve for `kind` and `type`, with the same fallback. Without one, the
  /// kernel has that of another kind, as `KernelKind` says.
  const KernelCurve *
  curve(program::KernelKind kind, ElementType type,
        std::optional<ElementType> storage = std::nullopt) const;
};

/// Time of one collective against its buffer size, at sizes
/// 2^firstLog2Bytes, 2^(firstLog2Bytes+1), ...: interpolated in log-log,
/// constant below, and proportional to the bytes above.
struct CollectiveCurve {
  int firstLog2Bytes = 0;
  std::vector<double> timeUs;
  Source source;
  /// What was measured, where `timeUs` is that scaled to links as the user set
  /// them; else empty.
  std::vector<double> measuredUs = {};
};

using CollectiveCurves =
    std::map<program::CollectiveKind, std::map<int64_t, CollectiveCurve>>;

/// A level of the interconnect.
struct Tier {
  std::string name;
  /// Devices that reach each other on this tier (multiples of the tier below).
  int64_t domain = 1;
  /// Bytes per second and device, one direction.
  Figure bandwidth;
  /// Fraction of it that a large transfer reaches.
  Figure efficiency;
  /// Microseconds of one hop, including the software.
  Figure latency;
  /// What its devices can do besides the rule of each kind (`ruleOf`).
  std::vector<Algorithm> algorithms;
  /// By kind and group size, for groups inside this tier.
  CollectiveCurves curves;
  /// Those of runtimes that have other kernels, by `Runtime::collectives`.
  std::map<std::string, CollectiveCurves> implementations;
};

/// Scales the curves of `tier` to its figures, where those are not the ones of
/// the file: each time has a part that goes with bandwidth and efficiency, and
/// one that goes with latency.
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

/// What a name that no system has was taken for.
struct TakenName {
  std::string asked, system;
  /// Systems that the name fits as well.
  std::vector<std::string> others;

  /// "taken for 'h100'; h100-pcie-8 is called so, too".
  std::string str() const;
};

/// How far apart what measured chips reach is, of one kernel and format: the
/// largest over the smallest efficiency.
struct CurveSpread {
  double compute = 1, memory = 1;
};

/// What a plan runs on.
struct Machine {
  std::string name, title;
  std::vector<Pool> pools;
  /// Of a device; USD per hour.
  std::optional<Figure> price = std::nullopt;
  std::optional<TakenName> taken = std::nullopt;
  /// What a file of a few lines leaves to the library, and what of it was
  /// taken; "" of one that says everything.
  std::string derived = {};
  /// By use ("matmul.bf16"), where several chips of the library were measured
  /// and the chip of the machine has curves of others.
  std::map<std::string, CurveSpread> spreads = {};

  int64_t devices() const;
  /// The same with kernels of `runtime` and collectives of `collectives` where
  /// those were measured.
  void useImplementations(const std::string &runtime,
                          const std::string &collectives);
};

/// `--set path=value`: replaces the value of a figure and marks it as the
/// user's. Paths: chips.<name>.<field>, systems.<name>.<field>,
/// runtimes.<name>.<field>; nested fields by dots. `*` for a name is any.
struct Override {
  std::string path;
  double value = 0;

  bool operator==(const Override &other) const {
    return path == other.path && value == other.value;
  }
};
/// "chips.h100-sxm" of a path that begins so.
std::string ownerOf(const Override &override);
Result<Override> parseOverride(std::string_view text);
/// The first error is that of all.
Result<std::vector<Override>>
parseOverrides(const std::vector<std::string> &texts);

struct System;

/// The library of chips and systems: files of `dataDirectory("hardware")`,
/// read when asked for.
class HardwareLibrary {
public:
  explicit HardwareLibrary(std::vector<Override> overrides = {});

  std::vector<std::string> chipNames() const;
  std::vector<std::string> systemNames() const;
  /// By library name, or by path of a file (which may name a chip of the
  /// library or of a file beside it).
  Result<Chip> chip(const std::string &nameOrPath) const;
  /// A system with `nodes` nodes. More than one needs a scale-out tier. Names
  /// that fit several systems, as "h100" does, mean what `names.json` says.
  Result<Machine> machine(const std::string &nameOrPath,
                          int64_t nodes = 1) const;
  /// The text of an `autopar.node/1` for people to edit: `name`, like the chip
  /// or system `base`.
  Result<std::string> draftNode(const std::string &base,
                                const std::string &name) const;
  /// Chips and systems whose names have all words of `text`.
  std::vector<std::string> fitting(const std::string &text) const;
  /// Overrides that no file read so far has used, nor one of `elsewhere`
  /// ("chips.h100-sxm"): an unknown path is an error that names the nearest
  /// one.
  std::optional<Error>
  unusedOverride(const std::set<std::string> &elsewhere = {}) const;

private:
  /// `system`, whose chip is `chip`, with `nodes` nodes.
  Result<Machine> makeMachine(System system, Chip chip, int64_t nodes) const;
  /// The machine of a document of `autopar.node/1`.
  Result<Machine> nodeMachine(const JsonDocument &document,
                              int64_t nodes) const;

  std::vector<Override> overrides;
  mutable std::vector<bool> used;
  std::string directory;
};

} // namespace autopar::hardware

#endif // AUTOPAR_HARDWARE_HARDWARE_H
