//===- SearchSpace.h - Between what plans one chooses -----------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A space is every way to give devices degrees of parallelism, within limits
// for each: "tp=1..8,pp=1,sp=on,order=default". Each plan is in it once: what
// `NeutralAxes.h` calls the same plan has one spelling here, too.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_SEARCH_SEARCHSPACE_H
#define AUTOPAR_SEARCH_SEARCHSPACE_H

#include "autopar/Plan/Plan.h"

#include <array>
#include <functional>
#include <optional>

namespace autopar::search {

/// Numbers that a choice may be: "8", "1..8", "1|2|4", "any".
class NumberSet {
public:
  /// Any number.
  NumberSet() = default;

  bool has(int64_t number) const;
  /// The divisors of `number` that it has, rising.
  std::vector<int64_t> divisorsOf(int64_t number) const;
  std::string str() const;

  static std::optional<NumberSet> parse(std::string_view text);
  static NumberSet of(int64_t number);

private:
  struct Range {
    int64_t first, last;
  };
  /// None: any.
  std::vector<Range> ranges;
};

/// The choices that have a size. `attention_tp` and `dcp` are parts of tp;
/// `shard_fsdp` is the part of dp*cp that fsdp or ZeRO of a training split what
/// replicas keep over, 1 where they do not, and all of it in inference.
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

/// By `Knob`, of devices of all stages: pp*cp*dp*tp of them.
struct PlanSizes : std::array<int64_t, knobCount> {
  int64_t operator[](Knob knob) const { return at(static_cast<size_t>(knob)); }
  int64_t &operator[](Knob knob) { return at(static_cast<size_t>(knob)); }

  /// Devices of a stage.
  int64_t stageDevices() const {
    return (*this)[Knob::tp] * (*this)[Knob::cp] * (*this)[Knob::dp];
  }
  /// Groups of those that have sequences of their own: attention of a replica
  /// leaves some, too.
  int64_t replicas() const {
    return (*this)[Knob::dp] *
           ((*this)[Knob::tp] / (*this)[Knob::attention_tp]);
  }
  /// Devices that have the same parameters of dense layers.
  int64_t copies() const { return (*this)[Knob::cp] * (*this)[Knob::dp]; }
};

/// What backwards make again, where that is searched for: nothing, what
/// attention keeps to itself, whole layers.
const std::array<program::Recomputation, 3> &searchedRecomputations();

/// The choices that have no size.
struct PlanChoice {
  bool sequenceParallel = false, fsdp = false;
  /// Of a plan with cp.
  plan::ContextKind contextKind = plan::ContextKind::ring;
  /// Of training: what replicas keep a part of each. 0: nothing, 1: what the
  /// optimizer keeps, 2: gradients, too.
  int64_t zero = 0;
  /// Index into `searchedRecomputations`.
  uint32_t recompute = 0;
  /// Slots for copies of experts, of all devices that share them.
  int64_t redundantExperts = 0;

  /// A number of its own.
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
  /// Of training: what replicas keep a part of and what is made again (as of
  /// `PlanChoice`), sequences of a replica in a microbatch, virtual stages of a
  /// device, and who waits for whom.
  std::vector<int64_t> zero = {0, 1, 2};
  std::vector<uint32_t> recompute = {0, 1, 2};
  NumberSet microBatch, interleave;
  std::vector<schedule::ScheduleKind> schedules = {
      schedule::ScheduleKind::one_f_one_b, schedule::ScheduleKind::interleaved,
      schedule::ScheduleKind::gpipe, schedule::ScheduleKind::zero_bubble};
  /// Whether it is a space of training, which has those choices; its attention
  /// uses all of tp, and nothing is cached.
  bool trains = false;
  /// Slots for copies of experts, of all devices together. Absent: none, or so
  /// many that each device has 1, 2, 4 and so on more than without, at most
  /// twice as many.
  std::optional<std::vector<int64_t>> redundantExperts;
  /// Routed experts of a layer whose loads are known: only those have copies. 0
  /// where they are even.
  int64_t loadedExperts = 0;
  /// Whether axes lie on the machine in every order; else as flags lay them.
  bool allOrders = false;

  const NumberSet &operator[](Knob knob) const {
    return sizes[static_cast<size_t>(knob)];
  }
};

/// The space of a text as "tp=1..8,pp=1,order=default"; what it does not name
/// is free. Errors name the word and what would work.
Result<SearchSpace> parseSearchSpace(std::string_view text);
/// What `parseSearchSpace` reads back: all that is not free.
std::string spaceText(const SearchSpace &space);
/// Makes it a space of training, or checks that it limits nothing that only
/// those have. The error: a limit of the other kind.
std::optional<Error> setTrains(SearchSpace &space, bool trains);
/// The words of a space and what they may be, for help.
std::string spaceHelp();

/// The space of this plan alone, in default order, with whatever microbatches
/// where it does not say how many.
SearchSpace spaceOf(const plan::Plan &plan, bool trains = false);

/// Calls `visit` with all sizes that the space gives `devices` devices, of a
/// model with routed experts or without (whose ep is 1 and etp is tp), until it
/// returns false. Whether it never did.
bool forEachSizes(const SearchSpace &space, int64_t devices, bool hasExperts,
                  const std::function<bool(const PlanSizes &)> &visit);

/// The choices that the space has beside `sizes`, those that say something.
std::vector<PlanChoice> choicesOf(const SearchSpace &space,
                                  const PlanSizes &sizes);

/// Makes `choice` that of a plan that has its axes.
void setChoice(plan::Plan &plan, const PlanChoice &choice);

/// `base`, which has no axes, with these sizes, in its one spelling. Errors:
/// degrees that are no products of common axes.
Result<plan::Plan> planOf(const plan::Plan &base, const PlanSizes &sizes,
                          const PlanChoice &choice);

/// In what order axes lie on the machine: indices into the axes of a plan,
/// outermost first.
using AxisOrder = std::vector<uint8_t>;
/// The axes of `plan` in that order.
plan::Plan withOrder(const plan::Plan &plan, const AxisOrder &order);

} // namespace autopar::search

#endif // AUTOPAR_SEARCH_SEARCHSPACE_H
