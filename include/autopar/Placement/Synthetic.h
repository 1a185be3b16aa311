//===- Synthetic.h - Loads for what-ifs -------------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_PLACEMENT_SYNTHETIC_H
#define AUTOPAR_PLACEMENT_SYNTHETIC_H

#include "autopar/Placement/LoadProfile.h"

namespace autopar::placement {

/// A random number generator that yields the same numbers on every machine:
/// SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number
/// generators, OOPSLA 2014).
class RandomNumbers {
public:
  explicit RandomNumbers(uint64_t seed) : state(seed) {}
  uint64_t next();
  /// Returns a number from 0 to `bound` - 1. Its distribution deviates from
  /// uniform by less than bound / 2^64. `bound` must be positive.
  uint64_t below(uint64_t bound);

private:
  uint64_t state;
};

template <typename T>
void shuffle(std::vector<T> &values, RandomNumbers &random) {
  for (size_t i = values.size(); i > 1; --i)
    std::swap(values[i - 1], values[random.below(i)]);
}

/// Distributions from which loads of experts can be made.
enum class LoadShapeKind : uint8_t {
  /// All experts have the same load.
  even,
  /// The i-th most loaded expert has a share proportional to i^-skew.
  zipf,
  /// Quantiles of a log-normal distribution whose Gini coefficient is `skew`:
  /// sigma = 2 erfinv(skew). Measured routing of text has 0.10 to 0.29 by model
  /// (Ma et al.: Diagnosing Overhead in Dispatch Operations, arXiv 2605.20982,
  /// abstract: 0.105 and 0.150 for the most even, above 0.24 for others).
  log_normal,
};

/// The Gini coefficient that was measured for a model with uneven routing.
inline constexpr double measuredGini = 0.24;

struct SyntheticLoad {
  LoadShapeKind kind = LoadShapeKind::zipf;
  double skew = 1;
  int64_t experts = 1, layers = 1;
  /// Number of routed tokens per layer, drawn at random for each layer; 0: the
  /// expected shares are used, without drawing.
  int64_t tokens = 0;
  uint64_t seed = 0;
};

/// Returns the shares of experts, most loaded first, which sum to 1.
std::vector<double> loadShares(LoadShapeKind kind, double skew,
                               int64_t experts);
/// Draws `tokens` experts with the probabilities `shares`, and returns how
/// often each was drawn.
std::vector<double> drawTokens(const std::vector<double> &shares,
                               int64_t tokens, RandomNumbers &random);
/// Makes loads for layers 0, 1, ...; each layer has a random order of experts
/// of its own.
Result<LoadProfile> makeLoads(const SyntheticLoad &load);

} // namespace autopar::placement

#endif // AUTOPAR_PLACEMENT_SYNTHETIC_H
