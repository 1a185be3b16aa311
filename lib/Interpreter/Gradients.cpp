//===- Gradients.cpp ------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Interpreter/Gradients.h"

#include <algorithm>
#include <cmath>

using namespace autopar;
using namespace autopar::interpreter;
using namespace autopar::program;
using namespace mlir;

using Elements = std::map<int64_t, double>;

static double largestOf(const Elements &gradients) {
  double largest = 0;
  for (const auto &[offset, gradient] : gradients)
    largest = std::max(largest, std::abs(gradient));
  return largest;
}

/// Returns the offset of the element with the largest gradient, and those of
/// random elements.
static std::vector<int64_t> choose(const std::string &name,
                                   const Elements &gradients, int64_t count) {
  std::vector<int64_t> offsets;
  double largest = largestOf(gradients);
  for (const auto &[offset, gradient] : gradients)
    if (offsets.empty() && std::abs(gradient) == largest)
      offsets.push_back(offset);
  std::vector<int64_t> all;
  for (const auto &[offset, gradient] : gradients)
    all.push_back(offset);
  for (int64_t i = 1; i < count; ++i)
    offsets.push_back(all[size_t((randomNumber(name + " choice", i) + 1) / 2 *
                                 double(all.size()))]);
  return offsets;
}

/// Returns the loss of each token if the elements are changed by `nudge`.
static FailureOr<std::vector<double>>
lossesWith(TrainingMemory::Nudge nudge, Execution &run, const Workload &step) {
  run.training().nudged = std::move(nudge);
  LogicalResult ran = run.runForward(step);
  run.training().nudged = {};
  if (failed(ran))
    return failure();
  std::vector<double> losses;
  for (const LocalTensor &loss : run.results())
    losses.insert(losses.end(), loss.data.begin(), loss.data.end());
  return losses;
}

/// Returns the difference quotient of the loss. Losses are subtracted token by
/// token, because a sum would lose more digits.
static FailureOr<double> differenceOf(TrainingMemory::Nudge nudge,
                                      Execution &run, const Workload &step) {
  auto more = lossesWith(nudge, run, step);
  nudge.by = -nudge.by;
  auto less = lossesWith(nudge, run, step);
  if (failed(more) || failed(less))
    return failure();
  double sum = 0;
  for (size_t i = 0; i < more->size(); ++i)
    sum += (*more)[i] - (*less)[i];
  return sum / (-2 * nudge.by);
}

FailureOr<std::vector<GradientElement>>
autopar::interpreter::measureGradients(Execution &run, const Workload &step,
                                       int64_t count) {
  if (failed(run.run(step)))
    return failure();
  FailureOr<CheckpointElements> gradients = run.gradients();
  if (failed(gradients))
    return failure();
  std::vector<GradientElement> all;
  for (const auto &[name, elements] : *gradients) {
    double scale = std::max(1e-3, largestOf(elements));
    for (int64_t offset : choose(name, elements, count)) {
      // The change 1e-5 is about the cube root of the precision, which is best
      // for central differences.
      FailureOr<double> expected =
          differenceOf({name, offset, /*by=*/1e-5}, run, step);
      if (failed(expected))
        return failure();
      double gradient = elements.at(offset);
      all.push_back({name, offset, gradient, *expected,
                     std::abs(gradient - *expected) / scale});
    }
  }
  return all;
}

FailureOr<DirectionalDerivative>
autopar::interpreter::measureDirection(Execution &run, const Workload &step) {
  if (failed(run.run(step)))
    return failure();
  FailureOr<CheckpointElements> gradients = run.gradients();
  if (failed(gradients))
    return failure();
  double sum = 0, squares = 0;
  for (const auto &[name, elements] : *gradients)
    for (const auto &[offset, gradient] : elements) {
      double addend = gradient * directionOf(name, offset);
      sum += addend;
      squares += addend * addend;
    }
  // The change is smaller than for one element, because all elements change at
  // once.
  FailureOr<double> expected = differenceOf({"", 0, /*by=*/1e-6}, run, step);
  if (failed(expected))
    return failure();
  double scale = std::max(1e-3, std::sqrt(squares));
  return DirectionalDerivative{sum, *expected,
                               std::abs(sum - *expected) / scale};
}
