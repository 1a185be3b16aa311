//===- Pricer.h - Prices of plans of one strategy ---------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// bind (the constructor) -> lay -> price. A pricer owns its slots: it is not
// shared between threads, strategies and tapes are. After the first call with a
// layout nothing is allocated.
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

/// The sizes of a plan: where the devices of each axis of the program lie.
struct Layout {
  std::vector<GroupAxis> axes;
  int64_t devices = 1;
  /// Of placed experts that follow it, copies included.
  int64_t expertSlots = 0;
  /// Pipeline stages; of a stage, what it runs in a pass, passes of a step, and
  /// microbatches that keep their caches.
  int64_t stages = 1;
  program::PartCounts part = {};
  int64_t passes = 1, microbatches = 1;
};

/// Why a plan has no price.
struct Refusal {
  enum class Kind : uint8_t {
    none,
    /// Requirement `index` of the strategy, the first that fails.
    requirement,
    /// Figure `index` of the strategy is no exponent of a roofline.
    exponent,
    /// Output `index` is above what prices count, 2^53.
    overflow,
  };
  Kind kind = Kind::none;
  uint32_t index = 0;

  explicit operator bool() const { return kind != Kind::none; }
};

/// Values of symbols, by `Symbol`, of one group of sequences.
using GroupValues = std::array<double, symbolCount>;
GroupValues pointOf(const program::Workload &workload);

/// The steps of `whole` where each of `replicas` computes as many tokens at
/// once as `runtime` does; none where it is a single step. `mayCut`: prompts,
/// too, of models that keep what they have seen.
std::vector<program::PrefillChunk> stepsOf(const program::Workload &whole,
                                           const runtime::Runtime &runtime,
                                           bool mayCut, int64_t replicas);

/// Points of one layout that are priced at once.
inline constexpr size_t laneCount = 16;
/// Of one group, by symbol, then by point.
using LaneValues = std::array<std::array<double, laneCount>, symbolCount>;
LaneValues lanesOf(const std::array<GroupValues, laneCount> &points);

/// A step: the groups that its strategy was compiled for. They are not copied.
template <typename Group>
class GroupsOf {
public:
  GroupsOf(const Group &only) : first(&only), count(1) {}
  GroupsOf(const std::vector<Group> &groups)
      : first(groups.data()), count(groups.size()) {}
  template <size_t size>
  GroupsOf(const std::array<Group, size> &groups)
      : first(groups.data()), count(size) {}

  /// Of node `Op::symbol` with this index.
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

/// Which kernels `runtime` launches as one.
Launching launchingOf(const runtime::Runtime &runtime);

/// The figures of a strategy on a machine.
struct BoundFigure {
  double value = 0;
  /// Where it is in the data; null where it is not used (an ideal runtime, a
  /// chip without a curve) or is a share of memory that the plan gives.
  const hardware::Figure *figure = nullptr;
  const hardware::KernelCurve *curve = nullptr;
};
std::vector<BoundFigure> bindFigures(const Leaves &leaves,
                                     const hardware::Pool &pool,
                                     const runtime::Runtime &runtime,
                                     std::optional<double> memoryUtilization);

/// The refusal of the first exponent that a roofline cannot have.
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
  /// Every figure, as bound.
  const std::vector<BoundFigure> &figures() const;

  Refusal lay(const Layout &layout);
  /// Values by output of the tape, those that are refused as overflows, too.
  Refusal price(Point point, double *outputs);
  /// The same of 16 points, by output and then by lane; the refusal of the
  /// first lane that has one.
  Refusal price(LanePoints points, double *outputs);

private:
  struct State;
  std::unique_ptr<State> state;
};

} // namespace autopar::cost

#endif // AUTOPAR_COST_PRICER_H
