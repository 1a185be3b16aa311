//===- Pricer.h - Prices of plans of one strategy ---------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A pricer is bound (by its constructor), then laid, then prices. It owns its
// slots, so that threads share strategies and tapes but not pricers. After the
// first call with a layout nothing is allocated.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_COST_PRICER_H
#define AUTOPAR_COST_PRICER_H

#include "autopar/Cost/Route.h"
#include "autopar/Cost/Tape.h"
#include "autopar/Program/Stages.h"
#include "autopar/Program/Workload.h"
#include "autopar/Runtime/Runtime.h"

#include <memory>

namespace autopar::cost {

/// The sizes of a plan: the place of each axis of the program.
struct Layout {
  std::vector<GroupAxis> axes;
  int64_t devices = 1;
  /// Slots of placed experts, copies included.
  int64_t expertSlots = 0;
  /// Pipeline stages; the parts that a stage runs in a pass, passes per step,
  /// and microbatches that keep their caches.
  int64_t stages = 1;
  program::PartCounts part = {};
  int64_t passes = 1, microbatches = 1;
};

/// Why a plan cannot be priced at all; one that only does not fit has a price.
struct Refusal {
  enum class Kind : uint8_t {
    none,
    /// Requirement `index` of the strategy, the first that fails.
    requirement,
    /// Figure `index` of the strategy is no legal roofline exponent.
    exponent,
    /// Output `index` exceeds 2^53, the largest count of prices.
    overflow,
  };
  Kind kind = Kind::none;
  uint32_t index = 0;

  explicit operator bool() const { return kind != Kind::none; }
};

/// Sizes of the symbols, by `Symbol`, of one group of sequences.
using GroupValues = std::array<double, symbolCount>;
GroupValues pointOf(const program::Workload &workload);

/// Splits `whole` into steps in which each of `replicas` replicas computes at
/// most the token budget of `runtime`. Returns none if it is a single step.
/// `mayCut` says whether prompts may be cut, which needs a model that caches
/// tokens.
std::vector<program::PrefillChunk> stepsOf(const program::Workload &whole,
                                           const runtime::Runtime &runtime,
                                           bool mayCut, int64_t replicas);

/// Number of points of one layout that are priced at once.
inline constexpr size_t laneCount = 16;
/// Sizes of one group, by symbol, then by point.
using LaneValues = std::array<std::array<double, laneCount>, symbolCount>;
LaneValues lanesOf(const std::array<GroupValues, laneCount> &points);

/// The groups of a step, in the order of the strategy. They are not copied.
template <typename Group>
class GroupsOf {
public:
  GroupsOf(const Group &only) : first(&only), count(1) {}
  GroupsOf(const std::vector<Group> &groups)
      : first(groups.data()), count(groups.size()) {}
  template <size_t size>
  GroupsOf(const std::array<Group, size> &groups)
      : first(groups.data()), count(size) {}

  /// The value of the node `Op::symbol` with this index.
  const auto &symbol(uint32_t index) const {
    return first[index / symbolCount][index % symbolCount];
  }
  const Group *begin() const { return first; }
  const Group *end() const { return first + count; }

private:
  const Group *first;
  size_t count;
};
using Point = GroupsOf<GroupValues>;
using LanePoints = GroupsOf<LaneValues>;

/// The kernels that `runtime` launches as one.
Launching launchingOf(const runtime::Runtime &runtime);

/// A figure of a strategy on a machine.
struct BoundFigure {
  double value = 0;
  /// The figure in the data; null if it is not used (an ideal runtime, a chip
  /// without a curve) or is the memory share that the plan gives.
  const hardware::Figure *figure = nullptr;
  const hardware::KernelCurve *curve = nullptr;
};
std::vector<BoundFigure> bindFigures(const Leaves &leaves,
                                     const hardware::Pool &pool,
                                     const runtime::Runtime &runtime,
                                     std::optional<double> memoryUtilization);

/// Returns the refusal of the first figure that is no legal roofline exponent.
Refusal findBadExponent(const Leaves &leaves,
                        const std::vector<BoundFigure> &bound);

class Pricer {
public:
  /// All arguments outlive it.
  Pricer(const Tape &tape, const hardware::Machine &machine,
         const runtime::Runtime &runtime,
         std::optional<double> memoryUtilization = std::nullopt);
  ~Pricer();
  Pricer(Pricer &&) noexcept;

  /// Replaces the value of figure `index` of the strategy.
  void setFigure(uint32_t index, double value);
  /// All figures, as bound.
  const std::vector<BoundFigure> &figures() const;

  Refusal lay(const Layout &layout);
  /// Writes the values of all outputs, also if one of them overflows.
  Refusal price(Point point, double *outputs);
  /// Writes the values of 16 points, by output and then by lane. Returns the
  /// refusal of the first lane that has one.
  Refusal price(LanePoints points, double *outputs);

private:
  struct State;
  std::unique_ptr<State> state;
};

} // namespace autopar::cost

#endif // AUTOPAR_COST_PRICER_H
