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

/// What a search does by the kind of its question.
class QuestionKind {
public:
  virtual ~QuestionKind() = default;

  /// Prices the plans of a strategy that need no bound.
  virtual void price(TargetSearch &search, uint32_t strategy,
                     Findings &found) const = 0;
  /// Whether prices of some plans bound those of others. A step takes as long
  /// without fsdp, and gathers; of requests, more room is more at once; of
  /// training, more is split.
  virtual bool hasBounds() const { return false; }
  /// What plans take, of which less is better: time, or bytes of a device.
  virtual bool comparesMemory() const { return false; }
  /// Whether prices have times of tokens: of requests.
  virtual bool hasTokenTimes() const { return false; }
  /// The longest step that is wanted.
  virtual std::optional<double> stepLimitUs(const SearchProblem &) const {
    return std::nullopt;
  }
  /// Of all devices, from `batch` sequences.
  virtual double tokensPerS(const program::Workload &step, int64_t batch,
                            const BatchPrice &price) const;
  /// A knob of which nothing is said, for others say it.
  virtual Knob silentKnob() const { return Knob::shard_fsdp; }

  /// "step": what times are of, in words; "a step".
  virtual std::string timed() const = 0;
  virtual std::string oneTimed() const { return "a " + timed(); }
  /// "decode at context 4,096".
  virtual std::string text(const SearchProblem &problem) const = 0;
  /// What a batch is called, one and several; " at batch 8".
  virtual std::string batchWord() const { return "batch"; }
  virtual std::string batchesWord() const { return "batches"; }
  virtual std::string atBatch(int64_t batch) const;
  /// Of JSON and CSV.
  virtual std::string phaseKey(const SearchProblem &problem) const;
  virtual std::string timeKey() const { return "step_time_us"; }
};

} // namespace autopar::search

#endif // AUTOPAR_LIB_SEARCH_QUESTIONKIND_H
