//===- SearchSpace.h - Between what plans one chooses -----------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A space holds every assignment of devices to degrees of parallelism, within
// limits for each: "tp=1..8,pp=1,sp=on,order=default". Each plan is in it once:
// plans that `NeutralAxes.h` calls the same have one spelling.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_SEARCH_SEARCHSPACE_H
#define AUTOPAR_SEARCH_SEARCHSPACE_H

#include "autopar/Plan/Plan.h"

#include <array>
#include <functional>
#include <optional>

namespace autopar::search {

/// The numbers that a choice may have: "8", "1..8", "1|2|4", "any".
class NumberSet {
public:
  /// Makes the set that contains every number.
  NumberSet() = default;

  bool has(int64_t number) const;
  /// Returns those divisors of `number` that are in the set, in rising order.
  std::vector<int64_t> divisorsOf(int64_t number) const;
  std::string str() const;

  static std::optional<NumberSet> parse(std::string_view text);
  static NumberSet of(int64_t number);

private:
  struct Range {
    int64_t first, last;
  };
  /// The ranges of the set; empty: any number.
  std::vector<Range> ranges;
};

/// The choices of a plan that are sizes. `attention_tp` and `dcp` are parts of
/// tp. `shard_fsdp` is the part of dp*cp over which fsdp, or ZeRO in training,
/// splits the parameters, 1 without these; in inference it is all of dp*cp.
enum class Knob : uint8_t {
  pp,
  tp,
  attention_tp,
  cp,
  dp,
  dcp,
  ep,
  etp,
  shard_fsdp
};
inline constexpr size_t knobCount = 9;
inline constexpr std::array<Knob, knobCount> allKnobs = {
    Knob::pp,  Knob::tp, Knob::attention_tp, Knob::cp,        Knob::dp,
    Knob::dcp, Knob::ep, Knob::etp,          Knob::shard_fsdp};
std::string_view nameOf(Knob knob);

/// The sizes of a plan, by `Knob`. The deployment has pp*cp*dp*tp devices.
struct PlanSizes : std::array<int64_t, knobCount> {
  int64_t operator[](Knob knob) const { return at(static_cast<size_t>(knob)); }
  int64_t &operator[](Knob knob) { return at(static_cast<size_t>(knob)); }

  /// Returns the number of devices per pipeline stage.
  int64_t stageDevices() const {
    return (*this)[Knob::tp] * (*this)[Knob::cp] * (*this)[Knob::dp];
  }
  /// Returns the number of device groups with sequences of their own: dp, times
  /// the groups within tp over which attention is not split.
  int64_t replicas() const {
    return (*this)[Knob::dp] *
           ((*this)[Knob::tp] / (*this)[Knob::attention_tp]);
  }
  /// Returns the number of devices that hold the same parameters of dense
  /// layers.
  int64_t copies() const { return (*this)[Knob::cp] * (*this)[Knob::dp]; }
};

/// Returns the recomputations that a search tries: none, inside attention,
/// whole layers.
const std::array<program::Recomputation, 3> &searchedRecomputations();

/// The choices of a plan that are not sizes.
struct PlanChoice {
  bool sequenceParallel = false, fsdp = false;
  /// The kind of context parallelism, for plans with cp.
  plan::ContextKind contextKind = plan::ContextKind::ring;
  /// ZeRO stage in training: 0 splits nothing, 1 the optimizer states, 2 also
  /// the gradients.
  int64_t zero = 0;
  /// The recomputation, as an index into `searchedRecomputations`.
  uint32_t recompute = 0;
  /// Number of slots for copies of experts, on all devices that share the
  /// experts together.
  int64_t redundantExperts = 0;

  /// Returns a number that identifies the choice; `of` converts it back.
  uint32_t code() const {
    return sequenceParallel | fsdp << 1 |
           static_cast<uint32_t>(contextKind) << 2 |
           static_cast<uint32_t>(zero) << 4 | recompute << 6 |
           static_cast<uint32_t>(redundantExperts) << 8;
  }
  static PlanChoice of(uint32_t code) {
    return {(code & 1) != 0,
            (code & 2) != 0,
            static_cast<plan::ContextKind>(code >> 2 & 3),
            code >> 4 & 3,
            code >> 6 & 3,
            code >> 8};
  }
};

struct SearchSpace {
  std::array<NumberSet, knobCount> sizes;
  NumberSet microbatches;
  std::vector<bool> sequenceParallel = {false, true}, fsdp = {false, true};
  std::vector<plan::ContextKind> contextKinds = {plan::ContextKind::ring,
                                                 plan::ContextKind::all_to_all};
  /// Choices of training: ZeRO stages and recomputations (as in `PlanChoice`),
  /// sequences of a replica per microbatch, virtual stages per device, and
  /// pipeline schedules.
  std::vector<int64_t> zero = {0, 1, 2};
  std::vector<uint32_t> recompute = {0, 1, 2};
  NumberSet microBatch, interleave;
  std::vector<schedule::ScheduleKind> schedules = {
      schedule::ScheduleKind::one_f_one_b, schedule::ScheduleKind::interleaved,
      schedule::ScheduleKind::gpipe, schedule::ScheduleKind::zero_bubble};
  /// Whether the space is one of training. It then has the choices above,
  /// attention uses all of tp, and nothing is cached.
  bool trains = false;
  /// Numbers of slots for copies of experts to try, on all devices together. If
  /// absent, the search tries none and 1, 2, 4, ... extra slots per device, up
  /// to the number of experts on the device.
  std::optional<std::vector<int64_t>> redundantExperts;
  /// Number of routed experts per layer if their loads are known, since only
  /// then are experts copied; 0 if loads are even.
  int64_t loadedExperts = 0;
  /// Whether the search tries all orders of axes on the machine, or only the
  /// default order.
  bool allOrders = false;

  const NumberSet &operator[](Knob knob) const {
    return sizes[static_cast<size_t>(knob)];
  }
};

/// Parses a space such as "tp=1..8,pp=1,order=default". Choices that the text
/// does not name stay free. Errors name the word and what would work.
Result<SearchSpace> parseSearchSpace(std::string_view text);
/// Writes those choices of a space that are not free, so that
/// `parseSearchSpace` reads the same space.
std::string spaceText(const SearchSpace &space);
/// Turns `space` into one of training, or checks that it sets no choice of
/// training. Error: the space sets a choice of the other kind.
std::optional<Error> setTrains(SearchSpace &space, bool trains);
/// Returns a list of the words of a space and their values, for help.
std::string spaceHelp();

/// Returns the space that contains only this plan, in the default order. Its
/// number of microbatches is free if the plan does not set it.
SearchSpace spaceOf(const plan::Plan &plan, bool trains = false);

/// Calls `visit` with all sizes that the space allows on `devices` devices,
/// until it returns false. A model without routed experts has ep 1 and etp
/// equal to tp. Returns false if `visit` did.
bool forEachSizes(const SearchSpace &space, int64_t devices, bool hasExperts,
                  const std::function<bool(const PlanSizes &)> &visit);

/// Returns the choices of the space that differ in their effect at `sizes`.
std::vector<PlanChoice> choicesOf(const SearchSpace &space,
                                  const PlanSizes &sizes);

/// Sets the choices of `plan`, which must have its axes.
void setChoice(plan::Plan &plan, const PlanChoice &choice);

/// Returns `base`, which must have no axes, with these sizes and choices; equal
/// plans are written equally. Error: degrees that are not products of common
/// axes.
Result<plan::Plan> planOf(const plan::Plan &base, const PlanSizes &sizes,
                          const PlanChoice &choice);

/// The order of axes on the machine: indices into the axes of a plan, outermost
/// first.
using AxisOrder = std::vector<uint8_t>;
/// Returns `plan` with its axes sorted in this order.
plan::Plan withOrder(const plan::Plan &plan, const AxisOrder &order);

} // namespace autopar::search

#endif // AUTOPAR_SEARCH_SEARCHSPACE_H
