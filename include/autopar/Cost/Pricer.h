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

/// The sizes that a plan gives to a strategy: position and size of each mesh
/// axis of the program, and the numbers of stages and steps.
struct Layout {
  std::vector<GroupAxis> axes;
  int64_t devices = 1;
  /// Number of slots of placed experts, copies included.
  int64_t expertSlots = 0;
  /// `stages`: number of pipeline stages. `part`: the layers that a stage runs
  /// in one pass. `passes`: passes per step. `microbatches`: microbatches that
  /// keep their KV caches.
  int64_t stages = 1;
  program::PartCounts part = {};
  int64_t passes = 1, microbatches = 1;
};

/// The reason why a plan cannot be priced. A plan that does not fit in memory
/// is priced.
struct Refusal {
  enum class Kind : uint8_t {
    none,
    /// Requirement `index` of the strategy fails; it is the first one that
    /// does.
    requirement,
    /// Figure `index` of the strategy, a roofline exponent, has a value that is
    /// not allowed.
    exponent,
    /// Output `index` exceeds 2^53, above which doubles do not hold every
    /// integer.
    overflow,
  };
  Kind kind = Kind::none;
  uint32_t index = 0;

  explicit operator bool() const { return kind != Kind::none; }
};

/// The sizes of one group of sequences, indexed by `Symbol`.
using GroupValues = std::array<double, symbolCount>;
GroupValues pointOf(const program::Workload &workload);

/// Splits the step `whole` into steps in which each of `replicas` replicas
/// computes at most the runtime's token budget. Returns nothing if one step
/// suffices. `mayCut` says whether a prompt may be cut into chunks, which needs
/// a model that caches tokens.
std::vector<program::PrefillChunk> stepsOf(const program::Workload &whole,
                                           const runtime::Runtime &runtime,
                                           bool mayCut, int64_t replicas);

/// Number of workloads of one layout that are priced in one call.
inline constexpr size_t laneCount = 16;
/// The sizes of one group of sequences for `laneCount` workloads: by symbol,
/// then by workload.
using LaneValues = std::array<std::array<double, laneCount>, symbolCount>;
LaneValues lanesOf(const std::array<GroupValues, laneCount> &points);

/// A view of the groups of sequences of a step, in the order of the strategy.
template <typename Group>
class GroupsOf {
public:
  GroupsOf(const Group &only) : first(&only), count(1) {}
  GroupsOf(const std::vector<Group> &groups)
      : first(groups.data()), count(groups.size()) {}
  template <size_t size>
  GroupsOf(const std::array<Group, size> &groups)
      : first(groups.data()), count(size) {}

  /// The value of the `Op::symbol` node with this index.
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

/// Returns which kernels `runtime` launches as one.
Launching launchingOf(const runtime::Runtime &runtime);

/// The value that a figure of a strategy has on a machine.
struct BoundFigure {
  double value = 0;
  /// The entry of the hardware or runtime file that gives the value; null if
  /// there is none: an ideal runtime, a chip without a measured curve, or a
  /// memory share that the plan sets.
  const hardware::Figure *figure = nullptr;
  const hardware::KernelCurve *curve = nullptr;
};
std::vector<BoundFigure> bindFigures(const Leaves &leaves,
                                     const hardware::Pool &pool,
                                     const runtime::Runtime &runtime,
                                     std::optional<double> memoryUtilization);

/// Returns a refusal if a roofline exponent has a value that is not allowed.
Refusal findBadExponent(const Leaves &leaves,
                        const std::vector<BoundFigure> &bound);

class Pricer {
public:
  /// The arguments must outlive this object.
  Pricer(const Tape &tape, const hardware::Machine &machine,
         const runtime::Runtime &runtime,
         std::optional<double> memoryUtilization = std::nullopt);
  ~Pricer();
  Pricer(Pricer &&) noexcept;

  /// Replaces the value of figure `index` of the strategy.
  void setFigure(uint32_t index, double value);
  /// Returns the values of all figures of the strategy, by index.
  const std::vector<BoundFigure> &figures() const;

  Refusal lay(const Layout &layout);
  /// Writes the values of all outputs to `outputs`, even if one of them
  /// overflows.
  Refusal price(Point point, double *outputs);
  /// Prices 16 workloads and writes their outputs, by output, then by workload.
  /// Returns the refusal of the first workload that has one.
  Refusal price(LanePoints points, double *outputs);

private:
  struct State;
  std::unique_ptr<State> state;
};

} // namespace autopar::cost

#endif // AUTOPAR_COST_PRICER_H
