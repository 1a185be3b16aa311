//===- AttentionScores.h - Who sees whom, and how much -------- -*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_INTERPRETER_ATTENTIONSCORES_H
#define AUTOPAR_LIB_INTERPRETER_ATTENTIONSCORES_H

#include "autopar/Interpreter/Execution.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

namespace autopar::interpreter {

inline double dot(const double *a, const double *b, int64_t n) {
  double sum = 0;
  for (int64_t i = 0; i < n; ++i)
    sum += a[i] * b[i];
  return sum;
}

/// Which keys the query at a position attends to.
struct Visibility {
  bool causal = false;
  std::optional<int64_t> window, chunk;
  /// Number of key tokens and of query tokens, if both are operands.
  int64_t keys = 1, queries = 1;

  bool sees(int64_t position, int64_t token) const {
    if (causal && token > position)
      return false;
    if (window && !isInWindow(position, token))
      return false;
    return !chunk || token / *chunk == position * keys / (queries * *chunk);
  }

private:
  bool isInWindow(int64_t position, int64_t token) const {
    return causal ? token > position - *window
                  : std::abs(position - token) <= *window / 2;
  }
};

/// Returns the slope of ALiBi (arXiv:2108.12409) for a head.
inline double alibiSlope(int64_t head, int64_t heads) {
  int64_t power = 1;
  while (power * 2 <= heads)
    power *= 2;
  if (head < power)
    return std::exp2(-8.0 * double(head + 1) / double(power));
  return std::exp2(-4.0 * double(2 * (head - power) + 1) / double(power));
}

/// A softmax over scores; `sink` is an additional score without a value.
struct Softmax {
  std::vector<std::pair<int64_t, double>> scores;
  double most = -std::numeric_limits<double>::infinity(), total = 0;

  void add(int64_t token, double score) {
    scores.emplace_back(token, score);
    most = std::max(most, score);
  }
  void finish(std::optional<double> sink) {
    if (sink)
      most = std::max(most, *sink);
    for (auto &[token, score] : scores)
      total += score = std::exp(score - most);
    if (sink)
      total += std::exp(*sink - most);
  }
  /// Returns the logarithm of the softmax's denominator.
  double normaliser() const { return most + std::log(total); }
};

/// Whether row `row` of the tensor of selected tokens contains `token`; true if
/// the tensor is null.
inline bool isSelected(const LocalTensor *selected, int64_t row,
                       int64_t token) {
  if (!selected)
    return true;
  int64_t most = selected->shape.back();
  const double *first = &selected->data[row * most];
  return std::find(first, first + most, double(token)) != first + most;
}

} // namespace autopar::interpreter

#endif // AUTOPAR_LIB_INTERPRETER_ATTENTIONSCORES_H
