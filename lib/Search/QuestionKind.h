//===- QuestionKind.h - What searches do by question ------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_SEARCH_QUESTIONKIND_H
#define AUTOPAR_LIB_SEARCH_QUESTIONKIND_H

#include "autopar/Search/Search.h"

namespace autopar::search {

class TargetSearch;
struct BatchPrice;
struct Findings;

/// How a search behaves, as far as this depends on the kind of its question.
class QuestionKind {
public:
  virtual ~QuestionKind() = default;

  /// Prices those plans of a strategy that are bounded by no other plan.
  virtual void price(TargetSearch &search, uint32_t strategy,
                     Findings &found) const = 0;
  /// Returns whether the prices of some plans bound the prices of other plans.
  /// They do for steps, because fsdp adds its gathers to the same step. They do
  /// not for requests, where more room means a higher concurrency, nor for
  /// training, where fsdp splits more than weights.
  virtual bool hasBounds() const { return false; }
  /// Returns whether the cost of a plan is its bytes per device instead of its
  /// time.
  virtual bool comparesMemory() const { return false; }
  /// Returns whether prices have TTFT and TPOT, which only requests have.
  virtual bool hasTokenTimes() const { return false; }
  /// Returns the longest step in us that the user allows; nothing if there is
  /// no limit.
  virtual std::optional<double> stepLimitUs(const SearchProblem &) const {
    return std::nullopt;
  }
  /// Returns the tokens per second of all devices for `batch` sequences.
  virtual double tokensPerS(const program::Workload &step, int64_t batch,
                            const BatchPrice &price) const;
  /// Returns a knob that is not listed among the effects, because another knob
  /// shows its effect.
  virtual Knob silentKnob() const { return Knob::shard_fsdp; }

  /// Returns the noun for what is timed, such as "step".
  virtual std::string timed() const = 0;
  virtual std::string oneTimed() const { return "a " + timed(); }
  /// Returns the question in words, such as "decode at context 4,096".
  virtual std::string text(const SearchProblem &problem) const = 0;
  /// Return the noun for a batch, the noun for several batches, and the phrase
  /// for a given batch, such as " at batch 8".
  virtual std::string batchWord() const { return "batch"; }
  virtual std::string batchesWord() const { return "batches"; }
  virtual std::string atBatch(int64_t batch) const;
  /// Return keys of JSON and CSV.
  virtual std::string phaseKey(const SearchProblem &problem) const;
  virtual std::string timeKey() const { return "step_time_us"; }
};

} // namespace autopar::search

#endif // AUTOPAR_LIB_SEARCH_QUESTIONKIND_H
