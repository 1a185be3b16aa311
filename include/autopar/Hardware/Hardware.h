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

/// Where a figure comes from. `kind` is datasheet, measured, derived, recalled
/// or user.
struct Source {
  std::string kind;
  std::string reference;
  /// The value in the file, if the user replaced the figure.
  std::optional<double> replaced = std::nullopt;

  std::string str() const { return kind + ": " + reference; }
};

/// A number of a file in `hardware/` or `runtimes/`, in the unit that its
/// schema states. Users override it by its path:
/// "chips.h100-sxm.memory_bandwidth".
struct Figure {
  double value = 0;
  Source source;
  std::string path;

  /// Returns the value in the file, with which curves were measured.
  double fileValue() const { return source.replaced.value_or(value); }
  /// Whether the user replaced the file's value.
  bool isGiven() const { return source.replaced.has_value(); }
};

/// Measured kernel time over the roofline time of the kernel's curve, by the
/// shape of the kernel: a grid of ratios, linear between knots and constant
/// outside.
struct ShapeTable {
  /// One coordinate of the table: a size of the shape, such as "rows", and its
  /// knots in rising order.
  struct Coordinate {
    std::string of;
    std::vector<double> at;
  };
  /// The coordinates: first those that vary with the workload, whose knots are
  /// powers of two, then those that the layout fixes.
  std::vector<Coordinate> coordinates;
  /// The ratios at the knots; the last coordinate varies fastest.
  std::vector<double> ratios;
  /// Median and 90th percentile of |predicted/measured - 1|, on shapes that
  /// were not used to make the table.
  double medianError = 0, p90Error = 0;

  /// Returns the names of the coordinates, in order, for a kernel that may have
  /// a table; nothing for other kernels.
  static std::vector<std::string_view> namesOf(program::KernelKind kernel,
                                               program::ShapeKind kind);
  /// Returns the number of coordinates that vary with the workload.
  static size_t varyingOf(program::KernelKind kernel);
};

/// The part of a shape table that remains when the layout has fixed its
/// coordinates: ratios at each power of two from the first knot to the last,
/// for one or two coordinates.
struct ShapeGrid {
  struct Side {
    int first = 0, last = 0;
    size_t size() const { return static_cast<size_t>(last - first) + 1; }
  };
  Side x, y;
  /// The ratio of each pair of sizes; `y` varies fastest.
  std::vector<double> ratios;
};
/// Returns the part of `table` in which its last coordinates have the sizes
/// `fixed`.
ShapeGrid reduce(const ShapeTable &table, const std::vector<double> &fixed);

/// The measured time of a kind of kernel:
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
  /// Queries of a head per tile, and the number of tiles that run at once, one
  /// per processor; 0 if not known.
  int64_t tileQueries = 0, tileSlots = 0;
  /// Keys per tile, for kernels that split the keys of a tile of queries among
  /// idle processors; else 0.
  int64_t tileKeys = 0;
  /// Number of processors among which keys are split evenly. 0: the keys are
  /// split in whole tiles, into as many parts as run at once.
  int64_t tileSplitSlots = 0;
  /// Median and 90th percentile of |predicted/measured - 1|, with the curve's
  /// shape tables; absent if the curve is not a fit.
  std::optional<double> medianError, p90Error;
  /// FLOPs and bytes of the largest launch in the fit; 0 if the curve is not a
  /// fit.
  double fittedFlops = 0, fittedBytes = 0;
  /// Shape tables, indexed by `ShapeKind`; null for a kind that was not
  /// measured.
  std::array<std::shared_ptr<const ShapeTable>, program::shapeKindCount>
      shapes = {};
  Source source;
  std::string path;
};

using KernelCurves =
    std::map<program::KernelKind, std::map<std::string, KernelCurve>>;

/// Returns the names of software platforms: the values that `Chip::platform`
/// may have.
const std::vector<std::string> &platforms();
bool isPlatform(const std::string &name);

/// One type of accelerator: its memory, its peaks, and the measured curves of
/// its kernels.
struct Chip {
  std::string name, title;
  std::string platform = "cuda";
  /// The memory size on the label, and the bytes that software can use.
  Figure memoryLabel, memoryUsable;
  /// Device memory bandwidth, in bytes per second.
  Figure memoryBandwidth;
  /// Dense peak rates in FLOP/s, by number format (`peakKeyOf(ElementType)`).
  std::map<std::string, Figure> peakFlops;
  /// Measured curves, by kind of kernel and then by number format: the peak key
  /// or, for weights in another format than activations, both ("fp4_bf16"); the
  /// key "" serves all formats.
  KernelCurves kernels;
  /// Measured curves of runtimes that have their own kernels, by
  /// `Runtime::name`.
  std::map<std::string, KernelCurves> implementations;
  /// Share of the rates of `kernels` that a training iteration sustains; absent
  /// if it sustains all.
  std::optional<Figure> sustainedCompute = std::nullopt;
  /// Power of the board at most, and when idle, in W.
  std::optional<Figure> boardPower = std::nullopt, idlePower = std::nullopt;

  /// Returns the peak rate for `type`, or for the next wider format that the
  /// chip has (fp8 -> bf16 -> fp16 -> fp32); null if there is none.
  const Figure *peak(ElementType type) const;
  /// Returns the number format in which kernels multiply weights in 4-bit
  /// floats (`storage`) with activations of `type`: fp8 if the chip has kernels
  /// for it, else `type`. For scans without a curve it is f32.
  ElementType unitsOf(program::KernelKind kind, ElementType type,
                      std::optional<ElementType> storage) const;
  /// Returns the name of the curve that would be measured for this use, whether
  /// the chip has it or not: "grouped_matmul.fp4_bf16".
  std::string useOf(program::KernelKind kind, ElementType type,
                    std::optional<ElementType> storage = std::nullopt) const;
  /// Returns the curve for `kind` and `type`, or for the next wider format.
  /// Without one, a kernel has the curve of another kind (see `KernelKind`).
  const KernelCurve *
  curve(program::KernelKind kind, ElementType type,
        std::optional<ElementType> storage = std::nullopt) const;
};

/// Measured time of one collective call by its buffer size, at
/// 2^firstLog2Bytes, 2^(firstLog2Bytes+1), ... bytes: interpolated in log-log,
/// constant below the first size, and proportional to the bytes above the last.
struct CollectiveCurve {
  int firstLog2Bytes = 0;
  std::vector<double> timeUs;
  Source source;
  /// The measured times, if `timeUs` was scaled to link figures that the user
  /// set; else empty.
  std::vector<double> measuredUs = {};
};

using CollectiveCurves =
    std::map<program::CollectiveKind, std::map<int64_t, CollectiveCurve>>;

/// A level of the interconnect, such as NVLink inside a node.
struct Tier {
  std::string name;
  /// Number of devices that reach each other on this tier, a multiple of that
  /// of the tier below.
  int64_t domain = 1;
  /// Bandwidth in bytes per second per device, in one direction.
  Figure bandwidth;
  /// Share of the bandwidth that a large transfer reaches.
  Figure efficiency;
  /// Latency of one hop in us, software included.
  Figure latency;
  /// Algorithms that devices on this tier use besides the textbook ones
  /// (`ruleOf`).
  std::vector<Algorithm> algorithms;
  /// Measured curves by kind of collective and group size, for groups inside
  /// this tier.
  CollectiveCurves curves;
  /// Measured curves of runtimes that have their own collectives, by
  /// `Runtime::collectives`.
  std::map<std::string, CollectiveCurves> implementations;
};

/// Scales the curves of `tier` to its figures if these differ from the file:
/// each time has a part that scales with bandwidth and efficiency, and one that
/// scales with latency.
void scaleCurves(Tier &tier);

/// Devices of one type with equal links between them.
struct Pool {
  Chip chip;
  int64_t devicesPerNode = 1;
  int64_t nodes = 1;
  /// The tiers of links, fastest first.
  std::vector<Tier> tiers;

  int64_t devices() const { return devicesPerNode * nodes; }
};

/// How a machine name was understood that is not the exact name of a system.
struct TakenName {
  std::string asked, system;
  /// Other systems that the name could mean.
  std::vector<std::string> others;

  /// Returns the interpretation as text: "for 'h100' (or: h100-pcie-8,
  /// h100-nvl-8)".
  std::string str() const;
};

/// How much measured chips differ for one kernel and format: the largest
/// efficiency over the smallest.
struct CurveSpread {
  double compute = 1, memory = 1;
};

/// The machine on which a plan runs.
struct Machine {
  std::string name, title;
  std::vector<Pool> pools;
  /// Price in USD per hour and device.
  std::optional<Figure> price = std::nullopt;
  std::optional<TakenName> taken = std::nullopt;
  /// For a machine file in short form, which figures it takes from the library,
  /// and from which chip; "" for a complete file.
  std::string derived = {};
  /// The difference between measured chips by use ("matmul.bf16"), if several
  /// chips of the library were measured and this machine's chip borrows their
  /// curves.
  std::map<std::string, CurveSpread> spreads = {};

  int64_t devices() const;
  /// Switches to the measured curves of the kernels of `runtime` and of the
  /// collectives of `collectives`, where there are any.
  void useImplementations(const std::string &runtime,
                          const std::string &collectives);
};

/// A user's `--set path=value`, which replaces the value of a figure. Paths:
/// chips.<name>.<field>, systems.<name>.<field>, runtimes.<name>.<field>;
/// nested fields are separated by dots. `*` stands for any name.
struct Override {
  std::string path;
  double value = 0;

  bool operator==(const Override &other) const {
    return path == other.path && value == other.value;
  }
};
/// Returns the part of the override's path that names a file: "chips.h100-sxm".
std::string ownerOf(const Override &override);
Result<Override> parseOverride(std::string_view text);
/// Returns the overrides of a file of `autopar.calibration/1`: the figures that
/// the calibration changed.
Result<std::vector<Override>> readCalibration(const std::string &path);
/// Parses several overrides; returns the first error. The text "@FILE" stands
/// for the overrides of a calibration.
Result<std::vector<Override>>
parseOverrides(const std::vector<std::string> &texts);

struct System;

/// The library of chips and systems: the files of `dataDirectory("hardware")`,
/// which are read when they are needed.
class HardwareLibrary {
public:
  explicit HardwareLibrary(std::vector<Override> overrides = {});

  std::vector<std::string> chipNames() const;
  std::vector<std::string> systemNames() const;
  /// Reads the chip with this name, or the one in the file with this path (the
  /// file may refer to a chip of the library, or of a file in its directory).
  Result<Chip> chip(const std::string &nameOrPath) const;
  /// Returns a machine of `nodes` nodes of a system. More than one node needs a
  /// tier between nodes. `names.json` resolves names that fit several systems,
  /// such as "h100".
  Result<Machine> machine(const std::string &nameOrPath,
                          int64_t nodes = 1) const;
  /// Returns the text of a machine file (`autopar.node/1`) with the name `name`
  /// for users to edit, filled from the chip or system `base`.
  Result<std::string> draftNode(const std::string &base,
                                const std::string &name) const;
  /// Returns the chips and systems whose names contain all words of `text`.
  std::vector<std::string> fitting(const std::string &text) const;
  /// Returns an error for an override that no file has used: neither one read
  /// so far nor one of `elsewhere` ("chips.h100-sxm"). The error names the
  /// nearest path.
  std::optional<Error>
  unusedOverride(const std::set<std::string> &elsewhere = {}) const;

private:
  /// Returns the machine of `system` with its `chip`, of `nodes` nodes.
  Result<Machine> makeMachine(System system, Chip chip, int64_t nodes) const;
  /// Returns the machine that a document of format `autopar.node/1` describes.
  Result<Machine> nodeMachine(const JsonDocument &document,
                              int64_t nodes) const;

  std::vector<Override> overrides;
  mutable std::vector<bool> used;
  std::string directory;
};

} // namespace autopar::hardware

#endif // AUTOPAR_HARDWARE_HARDWARE_H
