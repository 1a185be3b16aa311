//===- Sizes.h - Values of symbols, axes and dimensions ---------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_COST_SIZES_H
#define AUTOPAR_COST_SIZES_H

#include "autopar/Plan/Plan.h"
#include "autopar/Program/CostProgram.h"
#include "autopar/Program/Workload.h"
#include "autopar/Support/Checked.h"
#include "autopar/Support/Result.h"

#include <optional>
#include <string>
#include <vector>

namespace autopar {

/// The values that a workload gives to the symbols of a program and a plan to
/// its axes. "Logical" values are those of the whole model; "local" ones are
/// what the worst device holds. After a first error, which names the record
/// that `enter` announced, results mean nothing and `failed` is true.
class Sizes {
public:
  Sizes(const CostProgram &program, const Plan &plan, const Workload &workload);

  bool failed() const { return error.has_value(); }
  Error takeError() const { return *error; }
  void fail(std::string message, std::string note = "");
  /// Says which record is being read, for error messages: "kernel", "a/b".
  void enter(const char *kind, const std::string &name);

  /// Gives `symbol` another value; nothing where the program lacks it.
  void setSymbol(std::string_view symbol, int64_t value);

  int64_t axisSize(AxisId axis) const { return axes[axis]; }
  /// Devices over which `ids` split: the product of their sizes.
  Checked groupSize(const std::vector<AxisId> &ids) const;

  Checked logical(const Extent &extent) const;
  Checked logical(const Dims &dims) const;
  /// What the worst device holds of `extent` elements split as `dim` is.
  /// Errors: a plain split that does not divide; a cap where neither divides.
  Checked split(const Dim &dim, Checked extent);
  Checked local(const Dim &dim) { return split(dim, logical(dim.extent)); }
  Checked local(const Dims &dims);
  /// As `local`, with what a device holds of dimension `paged` rounded up to
  /// whole blocks (-1: none).
  Checked localPaged(const Dims &dims, int32_t paged, int64_t block);

  /// What the hottest device has where the mean one has `mean`: `mean` times
  /// `skewOf(kind)`, rounded up.
  Checked hottest(Checked mean, std::optional<uint32_t> kind) const {
    return ceilDiv(mean * skewOf(kind), evenSkew);
  }
  /// Hottest device / mean of the experts of a layer kind in millionths, the
  /// mean over its layers; `evenSkew` of null, and where nothing is placed.
  static constexpr int64_t evenSkew = 1'000'000;
  int64_t skewOf(std::optional<uint32_t> kind) const {
    return kind && *kind < skews.size() ? skews[*kind] : evenSkew;
  }

  /// `value` as an integer of the report. Errors: over 63 bits.
  int64_t narrow(Checked value, const char *what);

private:
  void addSkews(const PlacedExperts &placement);
  std::string axesText(const std::vector<AxisId> &ids) const;
  void refuseSplit(const Dim &dim, Checked extent, Checked devices);

  const CostProgram &program;
  std::vector<int64_t> symbols, axes;
  /// By layer kind.
  std::vector<int64_t> skews;
  const char *recordKind = "";
  const std::string *recordName = nullptr;
  std::optional<Error> error;
};

/// The error of an axis whose size is open.
Error refuseOpenAxis(const std::string &axis);

/// Bytes of `elements` values of `type`, the last one rounded up.
Checked bytesOf(Checked elements, ElementType type);

} // namespace autopar

#endif // AUTOPAR_COST_SIZES_H
