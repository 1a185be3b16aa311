//===- SearchChoices.h - Choices of searches and sweeps ---------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_SESSION_SEARCHCHOICES_H
#define AUTOPAR_SESSION_SEARCHCHOICES_H

#include <string>
#include <vector>

namespace autopar::session {

/// Choices of a search besides the flags of plans, as the user wrote them;
/// empty if not given. This header includes neither LLVM nor MLIR.
struct SearchChoices {
  std::string devices, batches, answer, space, goal, sla, why, weightFormat;
  unsigned threads = 0;
  bool verify = false;
};

/// Choices of a sweep besides the flags of plans.
struct SweepChoices {
  SearchChoices search;
  /// Whether each row has the best plan of its own.
  bool searches = false;
  /// The names of the flags that were given, in order.
  std::vector<std::string> order;
};

/// Whether a flag says what plans of a search do not differ in.
bool isOfAllPlans(const std::string &name);

} // namespace autopar::session

#endif // AUTOPAR_SESSION_SEARCHCHOICES_H
