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

/// The behaviour of a search that depends on the kind of its question.
class QuestionKind {
public:
  virtual ~QuestionKind() = default;

  /// Prices the plans of a strategy that no other plan bounds.
  virtual void price(TargetSearch &search, uint32_t strategy,
                     Findings &found) const = 0;
  /// Whether prices of some plans bound those of others. They do for steps:
  /// fsdp adds its gathers to the same step. They do not for requests, where
  /// more room means more concurrency, nor for training, where fsdp splits
  /// more.
  virtual bool hasBounds() const { return false; }
  /// Whether the cost of a plan is its bytes per device instead of its time.
  virtual bool comparesMemory() const { return false; }
  /// Whether prices have TTFT and TPOT, which only requests have.
  virtual bool hasTokenTimes() const { return false; }
  /// The longest step that the user allows.
  virtual std::optional<double> stepLimitUs(const SearchProblem &) const {
    return std::nullopt;
  }
  /// Tokens per second of all devices, from `batch` sequences.
  virtual double tokensPerS(const program::Workload &step, int64_t batch,
                            const BatchPrice &price) const;
  /// A knob that is left out of the effects, because another knob shows it.
  virtual Knob silentKnob() const { return Knob::shard_fsdp; }

  /// The noun that times belong to, such as "step".
  virtual std::string timed() const = 0;
  virtual std::string oneTimed() const { return "a " + timed(); }
  /// The question in words, such as "decode at context 4,096".
  virtual std::string text(const SearchProblem &problem) const = 0;
  /// The nouns for a batch and for several; the phrase such as " at batch 8".
  virtual std::string batchWord() const { return "batch"; }
  virtual std::string batchesWord() const { return "batches"; }
  virtual std::string atBatch(int64_t batch) const;
  /// Keys of JSON and CSV.
  virtual std::string phaseKey(const SearchProblem &problem) const;
  virtual std::string timeKey() const { return "step_time_us"; }
};

} // namespace autopar::search

#endif // AUTOPAR_LIB_SEARCH_QUESTIONKIND_H
