//===- Compare.cpp --------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Interpreter/Compare.h"

#include "autopar/Dialect/Parallel/Parallel.h"
#include "autopar/Dialect/Training/Training.h"
#include "autopar/Support/Text.h"

#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <cmath>

using namespace autopar;
using namespace autopar::interpreter;
using namespace mlir;

static double largestOf(const LocalTensor &tensor) {
  double largest = 0;
  for (double element : tensor.data)
    if (std::isfinite(element))
      largest = std::max(largest, std::abs(element));
  return largest;
}

static std::string shapeOf(const LocalTensor &tensor) {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::interleaveComma(tensor.shape, os << "[");
  os << "]";
  return text;
}

/// Describes the first difference of `value` from `expected`; "" if no element
/// differs by more than `tolerance` times the largest expected one (at least
/// 1).
static std::string differenceOf(const LocalTensor &value,
                                const LocalTensor &expected, double tolerance) {
  if (value.shape != expected.shape)
    return "its shape is " + shapeOf(value) + ", expected " + shapeOf(expected);
  double allowed = tolerance * std::max(1.0, largestOf(expected));
  for (int64_t i = 0; i < value.size(); ++i)
    if (value.data[i] != expected.data[i] &&
        !(std::abs(value.data[i] - expected.data[i]) <= allowed))
      return "element " + std::to_string(i) + " is " +
             std::to_string(value.data[i]) + ", expected " +
             std::to_string(expected.data[i]);
  return "";
}

/// Whether the value is computed by the model itself, and not by an op for
/// layouts or storage.
static bool isOfModel(const TraceEntry &entry) {
  return isa<transformer::TransformerDialect, training::TrainingDialect>(
             entry.op->getDialect()) &&
         !isa<transformer::AddBiasOp, transformer::AddExpertBiasOp,
              training::SavedOp>(entry.op);
}

/// Whether a bias of experts is added later to the value.
static bool awaitsBias(Value value) {
  return llvm::any_of(value.getUsers(), [](Operation *user) {
    if (isa<transformer::AddExpertBiasOp>(user))
      return true;
    return isa<parallel::ParallelDialect>(user->getDialect()) &&
           awaitsBias(user->getResult(0));
  });
}

/// Whether a pass has moved a bias out of the op, so that the split op computes
/// less than the unsplit one.
static bool lostItsBias(Operation *split, Operation *whole) {
  return split->getNumOperands() < whole->getNumOperands() ||
         (isa<transformer::CombineOp>(split) &&
          awaitsBias(split->getResult(0)));
}

LogicalResult autopar::interpreter::haveSameResults(const Execution &split,
                                                    const Execution &whole) {
  size_t own = split.results().size(), other = whole.results().size();
  auto fail = [&] {
    InFlightDiagnostic error = split.entry()->emitError();
    error.attachNote(whole.entry()->getLoc()) << "is compared with this one";
    return error;
  };
  if (own != other)
    return fail() << "has " << countOf(own, "result") << ", expected " << other;
  for (size_t i = 0; i < own; ++i)
    if (split.results()[i].shape != whole.results()[i].shape)
      return fail() << "result " << i << " is of shape "
                    << shapeOf(split.results()[i]) << ", expected "
                    << shapeOf(whole.results()[i]);
  return success();
}

std::optional<Difference>
autopar::interpreter::findDifference(const Execution &split,
                                     const Execution &whole, double tolerance) {
  auto next = whole.trace().begin();
  for (const TraceEntry &entry : split.trace()) {
    if (!isOfModel(entry))
      continue;
    auto same = std::find_if(next, whole.trace().end(), [&](const auto &other) {
      return other.op->getName() == entry.op->getName() &&
             other.layer == entry.layer && other.result == entry.result;
    });
    if (same == whole.trace().end())
      continue;
    next = std::next(same);
    if (lostItsBias(entry.op, same->op))
      continue;
    std::string what = differenceOf(entry.value, same->value, tolerance);
    if (!what.empty())
      return Difference{entry.op, entry.layer, entry.stage, what};
  }
  for (size_t i = 0; i < whole.results().size(); ++i) {
    std::string what =
        differenceOf(split.results()[i], whole.results()[i], tolerance);
    if (!what.empty())
      return Difference{nullptr, "", std::nullopt, what};
  }
  return std::nullopt;
}

/// Returns the description of the first checkpoint tensor in which `split`
/// differs from `whole`; "" if there is none.
static std::string differenceOf(const CheckpointElements &split,
                                const CheckpointElements &whole,
                                double tolerance) {
  for (const auto &[name, expected] : whole) {
    auto own = split.find(name);
    if (own == split.end() || own->second.size() != expected.size())
      return name + ": other elements are there";
    double largest = 0;
    for (const auto &[offset, element] : expected)
      largest = std::max(largest, std::abs(element));
    for (const auto &[offset, element] : expected) {
      auto found = own->second.find(offset);
      if (found == own->second.end() || !(std::abs(found->second - element) <=
                                          tolerance * std::max(1.0, largest)))
        return name + ": element " + std::to_string(offset) + " is " +
               (found == own->second.end() ? "absent"
                                           : std::to_string(found->second)) +
               ", expected " + std::to_string(element);
    }
  }
  return split.size() == whole.size() ? "" : "there are more weights";
}

FailureOr<std::string> autopar::interpreter::findTrainingDifference(
    const Execution &split, const Execution &whole, double tolerance) {
  FailureOr<CheckpointElements> own = split.gradients();
  FailureOr<CheckpointElements> expected = whole.gradients();
  if (failed(own) || failed(expected))
    return failure();
  std::string what = differenceOf(*own, *expected, tolerance);
  if (!what.empty())
    return "the gradient of " + what;
  what = differenceOf(split.training().next, whole.training().next, tolerance);
  return what.empty() ? what : "the update of " + what;
}

double autopar::interpreter::largestDifference(const Execution &split,
                                               const Execution &whole) {
  double largest = 0;
  for (size_t i = 0; i < whole.results().size(); ++i) {
    const LocalTensor &a = split.results()[i], &b = whole.results()[i];
    double scale = std::max(1e-300, largestOf(b));
    for (int64_t at = 0; at < a.size(); ++at)
      largest = std::max(largest, std::abs(a.data[at] - b.data[at]) / scale);
  }
  return largest;
}
