//===- Compare.cpp --------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Interpreter/Compare.h"

#include "autopar/Dialect/Parallel/Parallel.h"
#include "autopar/Dialect/Transformer/Transformer.h"

#include <algorithm>
#include <cmath>

using namespace autopar;
using namespace mlir;

static double largestOf(const LocalTensor &tensor) {
  double largest = 0;
  for (double element : tensor.data)
    largest = std::max(largest, std::abs(element));
  return largest;
}

/// The first element that is further off than `allowed`; -1 where none is.
static int64_t firstOff(const LocalTensor &a, const LocalTensor &b,
                        double allowed) {
  if (a.shape != b.shape)
    return 0;
  for (int64_t i = 0; i < a.size(); ++i)
    if (!(std::abs(a.data[i] - b.data[i]) <= allowed))
      return i;
  return -1;
}

/// What a model computes, and not how it is laid out.
static bool isOfModel(const TraceEntry &entry) {
  return isa<transformer::TransformerDialect>(entry.op->getDialect()) &&
         !isa<transformer::AddBiasOp, transformer::AddExpertBiasOp>(entry.op);
}

/// Whether a bias of the experts is added to what `value` becomes.
static bool awaitsBias(Value value) {
  return llvm::any_of(value.getUsers(), [](Operation *user) {
    if (isa<transformer::AddExpertBiasOp>(user))
      return true;
    return isa<parallel::ParallelDialect>(user->getDialect()) &&
           awaitsBias(user->getResult(0));
  });
}

/// Passes take a bias out of an op: what is left computes less.
static bool lostItsBias(Operation *split, Operation *whole) {
  return split->getNumOperands() < whole->getNumOperands() ||
         (isa<transformer::CombineOp>(split) &&
          awaitsBias(split->getResult(0)));
}

std::optional<Difference> autopar::findDifference(const Execution &split,
                                                  const Execution &whole,
                                                  double tolerance) {
  auto next = whole.trace().begin();
  for (const TraceEntry &entry : split.trace()) {
    if (!isOfModel(entry))
      continue;
    auto same = std::find_if(next, whole.trace().end(), [&](const auto &other) {
      return other.op->getName() == entry.op->getName() &&
             other.layer == entry.layer;
    });
    if (same == whole.trace().end())
      continue;
    next = std::next(same);
    if (lostItsBias(entry.op, same->op))
      continue;
    int64_t at = firstOff(entry.value, same->value,
                          tolerance * std::max(1.0, largestOf(same->value)));
    if (at >= 0)
      return Difference{entry.op, entry.layer, at, entry.value.data[at],
                        same->value.data[at]};
  }
  for (size_t i = 0; i < whole.results().size(); ++i) {
    const LocalTensor &expected = whole.results()[i];
    const LocalTensor &result = split.results()[i];
    int64_t at = firstOff(result, expected,
                          tolerance * std::max(1.0, largestOf(expected)));
    if (at >= 0)
      return Difference{nullptr, "", at, result.data[at], expected.data[at]};
  }
  return std::nullopt;
}

double autopar::largestDifference(const Execution &split,
                                  const Execution &whole) {
  double largest = 0;
  for (size_t i = 0; i < whole.results().size(); ++i) {
    const LocalTensor &a = split.results()[i], &b = whole.results()[i];
    double scale = std::max(1e-300, largestOf(b));
    for (int64_t at = 0; at < std::min(a.size(), b.size()); ++at)
      largest = std::max(largest, std::abs(a.data[at] - b.data[at]) / scale);
  }
  return largest;
}
