//===- Requests.h - Requests of a service -----------------------*- C++ -*-===//
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

/// The distribution of the tokens of prompts, or of answers.
class TokenLengths {
public:
  enum class Kind : uint8_t { fixed, uniform, lognormal, histogram };

  TokenLengths() = default;
  /// Parses "2000", "uniform:100..500", "lognormal:2000,0.8" (the mean, and the
  /// standard deviation of the logarithm), "histogram:128x3,4096x1" (tokens x
  /// weight). Errors have no `where`.
  static Result<TokenLengths> parse(const std::string &text);
  /// A histogram of `tokens`: the means of parts with equal counts, of which it
  /// makes as many as readers can use.
  static TokenLengths of(std::vector<int64_t> tokens);

  /// The text that `parse` reads back.
  std::string str() const;
  Kind getKind() const { return kind; }
  /// The numbers of tokens and the other numbers of the text, in its order.
  std::vector<int64_t> tokens() const;
  std::vector<double> numbers() const;
  bool isHistogram() const { return kind == Kind::histogram; }
  double mean() const;
  /// Variance over the square of the mean.
  double squaredVariation() const;
  /// The length at the same quantile as a normal variate `deviations` standard
  /// deviations above its mean.
  double atDeviations(double deviations) const;
  /// Draws a length of at least 1.
  int64_t draw(std::mt19937_64 &random) const;

private:
  double meanSquare() const;

  Kind kind = Kind::fixed;
  /// The fixed value; least and most; or the mean and the deviation of the
  /// logarithm.
  double first = 1, second = 0;
  /// For a histogram: tokens, and the cumulative weight.
  std::vector<std::pair<int64_t, double>> bins;
};

/// Latency limits in us: from a request to its first token (TTFT), and from
/// token to token (TPOT).
struct ServiceLimits {
  std::optional<double> ttftUs, tpotUs;

  bool any() const { return ttftUs || tpotUs; }
};

/// A request. In a closed loop its arrival is the earliest time at which it may
/// arrive.
struct Request {
  double arrivalUs = 0;
  int64_t promptTokens = 1, answerTokens = 1;
  /// Prompt tokens that are prefix-cache hits at the first prefill: they are
  /// not computed, but still occupy KV caches of the request.
  int64_t cachedTokens = 0;
};

/// The requests of a service.
struct Requests {
  /// Poisson arrival rate per second; 0 for a closed loop of `concurrency`
  /// requests.
  double ratePerS = 0;
  /// Concurrent requests of a closed loop, each followed by another.
  int64_t concurrency = 0;
  TokenLengths prompt = {}, answer = {};
  /// Prefix-cache hits, as a share of the tokens of a prompt.
  double cachedShare = 0;
  ServiceLimits limits = {};
  /// Speculative decoding: probability that a draft token is accepted if those
  /// before it were; one per draft of a step.
  std::vector<double> acceptance = {};
  /// Time of a draft over that of a decode step without drafts.
  std::optional<double> draftCost = std::nullopt;

  /// Returns an error with the name of the first invalid field, if any.
  std::optional<Error> verify() const;
};

/// Parses "ttft:500ms,tpot:30ms": only the first for a prefill, only the second
/// for a decode, both for requests (no phase). Errors have no `where`.
Result<ServiceLimits> parseServiceLimits(const std::string &text,
                                         std::optional<Phase> phase);

} // namespace autopar::program

#endif // AUTOPAR_PROGRAM_REQUESTS_H
