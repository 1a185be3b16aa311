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

/// The flags of a search other than those of plans, as the user wrote them; ""
/// if not given. This header includes neither LLVM nor MLIR.
struct SearchChoices {
  std::string devices, batches, answer, space, goal, sla, why, weightFormat;
  unsigned threads = 0;
  bool verify = false;
};

/// The flags of a sweep other than those of plans.
struct SweepChoices {
  SearchChoices search;
  /// Whether to search the best plan for each row.
  bool searches = false;
  /// The names of the flags that were given, in order.
  std::vector<std::string> order;
};

/// Whether a flag sets something in which the plans of a search do not differ.
bool isOfAllPlans(const std::string &name);

} // namespace autopar::session

#endif // AUTOPAR_SESSION_SEARCHCHOICES_H
