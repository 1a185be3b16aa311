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

/// The distribution of the number of tokens of prompts, or of answers.
class TokenLengths {
public:
  enum class Kind : uint8_t { fixed, uniform, lognormal, histogram };

  TokenLengths() = default;
  /// Parses "2000", "uniform:100..500", "lognormal:2000,0.8" (the mean, and the
  /// standard deviation of the logarithm), "histogram:128x3,4096x1" (tokens x
  /// weight). Errors have no `where` (location).
  static Result<TokenLengths> parse(const std::string &text);
  /// Returns a histogram of the numbers `tokens`: they are sorted and divided
  /// into parts with equal counts, and each part becomes a bin at its mean.
  static TokenLengths of(std::vector<int64_t> tokens);

  /// Returns the text from which `parse` makes an equal object.
  std::string str() const;
  Kind getKind() const { return kind; }
  /// Return the numbers of tokens in the text, and the other numbers in it,
  /// each in order.
  std::vector<int64_t> tokens() const;
  std::vector<double> numbers() const;
  bool isHistogram() const { return kind == Kind::histogram; }
  double mean() const;
  /// Returns the variance divided by the square of the mean.
  double squaredVariation() const;
  /// Returns the length at the quantile of a normal variable that is
  /// `deviations` standard deviations above its mean.
  double atDeviations(double deviations) const;
  /// Draws a random length of at least 1 token.
  int64_t draw(std::mt19937_64 &random) const;

private:
  double meanSquare() const;

  Kind kind = Kind::fixed;
  /// The parameters of the distribution: the fixed value; the least and the
  /// largest value; or the mean and the standard deviation of the logarithm.
  double first = 1, second = 0;
  /// For a histogram: the tokens of each bin, and the cumulative weight up to
  /// it.
  std::vector<std::pair<int64_t, double>> bins;
};

/// Latency limits in us: `ttftUs` from the arrival of a request to its first
/// token, `tpotUs` from token to token.
struct ServiceLimits {
  std::optional<double> ttftUs, tpotUs;

  bool any() const { return ttftUs || tpotUs; }
};

/// One request of a service. In a closed loop, `arrivalUs` is the earliest time
/// at which it may arrive.
struct Request {
  double arrivalUs = 0;
  int64_t promptTokens = 1, answerTokens = 1;
  /// Number of prompt tokens that are prefix-cache hits at the first prefill:
  /// they are not computed, but still occupy the request's KV cache.
  int64_t cachedTokens = 0;
};

/// The load of a service: how requests arrive, how long they are, and their
/// latency limits.
struct Requests {
  /// Mean number of requests that arrive per second (a Poisson process); 0 for
  /// a closed loop of `concurrency` requests.
  double ratePerS = 0;
  /// Number of requests that run at once in a closed loop; when one ends,
  /// another begins.
  int64_t concurrency = 0;
  TokenLengths prompt = {}, answer = {};
  /// Share of a prompt's tokens that are prefix-cache hits.
  double cachedShare = 0;
  ServiceLimits limits = {};
  /// Speculative decoding: for each draft token of a step, the probability that
  /// it is accepted if all draft tokens before it were.
  std::vector<double> acceptance = {};
  /// The time of a draft, divided by the time of a decode step without drafts.
  std::optional<double> draftCost = std::nullopt;

  /// Returns an error that names the first invalid field; nothing if all are
  /// valid.
  std::optional<Error> verify() const;
};

/// Parses latency limits, "ttft:500ms,tpot:30ms": a prefill may have only TTFT,
/// a decode only TPOT, requests (no phase) both. Errors have no `where`
/// (location).
Result<ServiceLimits> parseServiceLimits(const std::string &text,
                                         std::optional<Phase> phase);

} // namespace autopar::program

#endif // AUTOPAR_PROGRAM_REQUESTS_H
