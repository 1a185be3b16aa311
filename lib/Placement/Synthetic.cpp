//===- Synthetic.cpp ------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Placement/Synthetic.h"

#include "autopar/Support/Checked.h"
#include "autopar/Support/Limits.h"
#include "autopar/Support/Text.h"

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace autopar;
using namespace autopar::placement;

uint64_t RandomNumbers::next() {
  uint64_t z = state += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

uint64_t RandomNumbers::below(uint64_t bound) {
  return static_cast<uint64_t>(
      (static_cast<unsigned __int128>(next()) * bound) >> 64);
}

/// Returns the x at which the rising function `f` is `y`, by bisection.
template <typename Function>
static double invert(Function f, double y, double low, double high) {
  for (int i = 0; i < 80; ++i) {
    double middle = (low + high) / 2;
    (f(middle) < y ? low : high) = middle;
  }
  return (low + high) / 2;
}

/// Returns sigma of the log-normal distribution that has the given Gini
/// coefficient, which is erf(sigma / 2).
static double sigmaOfGini(double gini) {
  return 2 * invert([](double x) { return std::erf(x); }, gini, 0, 6);
}

/// Returns the quantile of a standard normal number: the x that it does not
/// exceed with probability p.
static double normalQuantile(double p) {
  return invert([](double x) { return std::erfc(-x / std::sqrt(2.0)) / 2; }, p,
                -10, 10);
}

std::vector<double> autopar::placement::loadShares(LoadShapeKind kind,
                                                   double skew,
                                                   int64_t experts) {
  std::vector<double> shares(static_cast<size_t>(experts), 1);
  double sigma = kind == LoadShapeKind::log_normal ? sigmaOfGini(skew) : 0;
  for (size_t i = 0; i < shares.size(); ++i) {
    if (kind == LoadShapeKind::zipf)
      shares[i] = std::pow(static_cast<double>(i + 1), -skew);
    if (kind == LoadShapeKind::log_normal)
      shares[i] = std::exp(sigma * normalQuantile(1 - (i + 0.5) / experts));
  }
  double total = std::accumulate(shares.begin(), shares.end(), 0.0);
  for (double &share : shares)
    share /= total;
  return shares;
}

std::vector<double>
autopar::placement::drawTokens(const std::vector<double> &shares,
                               int64_t tokens, RandomNumbers &random) {
  // The draw uses integers, so that it does not depend on the last digits of
  // library functions.
  constexpr double scale = 1099511627776; // 2^40
  std::vector<uint64_t> upTo;
  uint64_t total = 0;
  for (double share : shares)
    upTo.push_back(total += static_cast<uint64_t>(share * scale));
  std::vector<double> drawn(shares.size());
  for (int64_t i = 0; i < tokens && total; ++i) {
    auto at = std::upper_bound(upTo.begin(), upTo.end(), random.below(total));
    ++drawn[static_cast<size_t>(at - upTo.begin())];
  }
  return drawn;
}

static std::optional<Error> check(const SyntheticLoad &load) {
  auto wrong = [](std::string what, const std::string &range, double found) {
    return Error{
        "", what + ": expected " + range + ", found " + formatNumber(found),
        ""};
  };
  if (load.experts < 1 || load.experts > limits::maxPlacedExperts)
    return wrong("experts", "1 to " + std::to_string(limits::maxPlacedExperts),
                 static_cast<double>(load.experts));
  if (load.layers < 1 || load.layers > limits::maxConfigLayers ||
      load.layers > limits::maxLoadNumbers / load.experts)
    return wrong("layers",
                 "1 to " + std::to_string(
                               std::min(limits::maxConfigLayers,
                                        limits::maxLoadNumbers / load.experts)),
                 static_cast<double>(load.layers));
  if (load.tokens < 0 || load.tokens > limits::maxDrawnTokens / load.layers)
    return wrong("tokens",
                 "0 to " + std::to_string(limits::maxDrawnTokens / load.layers),
                 static_cast<double>(load.tokens));
  double most = load.kind == LoadShapeKind::log_normal ? 0.99 : 4;
  if (!(load.skew >= 0 && load.skew <= most))
    return wrong("skew", "0 to " + formatNumber(most), load.skew);
  return std::nullopt;
}

Result<LoadProfile> autopar::placement::makeLoads(const SyntheticLoad &load) {
  if (auto error = check(load))
    return *error;
  LoadProfile profile;
  profile.experts = load.experts;
  std::vector<double> shares = loadShares(load.kind, load.skew, load.experts);
  RandomNumbers random(load.seed);
  for (int64_t layer = 0; layer < load.layers; ++layer) {
    std::vector<double> mixed = shares;
    shuffle(mixed, random);
    profile.layers.push_back(
        {layer, load.tokens ? drawTokens(mixed, load.tokens, random) : mixed});
  }
  return profile;
}
