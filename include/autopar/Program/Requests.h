//===- Requests.h - What a service is asked ---------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_PROGRAM_REQUESTS_H
#define AUTOPAR_PROGRAM_REQUESTS_H

#include "autopar/Program/Workload.h"
#include "autopar/Support/Result.h"

#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace autopar::program {

/// How many tokens prompts, or answers, have.
class TokenLengths {
public:
  enum class Kind : uint8_t { fixed, uniform, lognormal, histogram };

  TokenLengths() = default;
  /// "2000", "uniform:100..500", "lognormal:2000,0.8" (the mean, and the
  /// standard deviation of the logarithm), "histogram:128x3,4096x1" (tokens x
  /// weight). Errors have no `where`.
  static Result<TokenLengths> parse(const std::string &text);
  /// A histogram of `tokens`: the means of as many parts of equal counts as are
  /// worth reading.
  static TokenLengths of(std::vector<int64_t> tokens);

  /// As `parse` reads it.
  std::string str() const;
  Kind getKind() const { return kind; }
  /// The numbers of tokens and the others of the text, in its order.
  std::vector<int64_t> tokens() const;
  std::vector<double> numbers() const;
  bool isFixed() const { return kind == Kind::fixed; }
  bool isHistogram() const { return kind == Kind::histogram; }
  double mean() const;
  /// Variance over the square of the mean.
  double squaredVariation() const;
  /// The length of which as large a share are below as of a normal variate are
  /// below `deviations` above its mean.
  double atDeviations(double deviations) const;
  /// At least 1.
  int64_t draw(std::mt19937_64 &random) const;

private:
  double meanSquare() const;

  Kind kind = Kind::fixed;
  /// The value; least and most; mean and deviation of the logarithm.
  double first = 1, second = 0;
  /// Of a histogram: tokens, and the weight of those up to here.
  std::vector<std::pair<int64_t, double>> bins;
};

/// The longest times that are wanted, in microseconds: from a request to its
/// first token, and from token to token.
struct ServiceLimits {
  std::optional<double> ttftUs, tpotUs;

  bool any() const { return ttftUs || tpotUs; }
};

/// A request; in closed loops its arrival is when it may come at the earliest.
struct Request {
  double arrivalUs = 0;
  int64_t promptTokens = 1, answerTokens = 1;
  /// Of the prompt, that the KV caches have already when it first comes: they
  /// are not read. They are in caches of its own all the same.
  int64_t cachedTokens = 0;
};

/// What a service is asked.
struct Requests {
  /// That come in a second, by Poisson's law; 0: `concurrency` says.
  double ratePerS = 0;
  /// At once, each followed by another.
  int64_t concurrency = 0;
  TokenLengths prompt = {}, answer = {};
  /// Share of the tokens of a prompt that the KV caches have already.
  double cachedShare = 0;
  ServiceLimits limits = {};
  /// Of speculative decoding: that a draft is accepted where those before it
  /// were; one for each draft of a step.
  std::vector<double> acceptance = {};
  /// What a draft takes, as a part of a step that decodes without drafts.
  std::optional<double> draftCost = std::nullopt;

  /// What of it is no load that a service can have, with the name of the field.
  std::optional<Error> verify() const;
};

/// "ttft:500ms,tpot:30ms": of a prefill the first alone, of a decode the
/// second, of requests (no phase) both. Errors have no `where`.
Result<ServiceLimits> parseServiceLimits(const std::string &text,
                                         std::optional<Phase> phase);

} // namespace autopar::program

#endif // AUTOPAR_PROGRAM_REQUESTS_H
