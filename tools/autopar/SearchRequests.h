//===- SearchRequests.h - From flags to searches ----------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_TOOLS_AUTOPAR_SEARCHREQUESTS_H
#define AUTOPAR_TOOLS_AUTOPAR_SEARCHREQUESTS_H

#include "ModelCommands.h"

#include "autopar/Session/Session.h"

namespace autopar {

/// What is searched where no batch is given.
inline constexpr const char *allBatches = "1..32768";

/// Fills what `search` says of a request whose base is there: space, goal and
/// the longest step. The error: what of it cannot be.
std::optional<Error> readChoices(const SearchArgument &search,
                                 SearchRequest &request);

/// The request for an estimate of `plan`, which a search for `request` found
/// on `target`.
PlanRequest planRequestOf(const SearchRequest &request,
                          const SearchTarget &target, const Plan &plan,
                          int64_t batch);

/// The estimate of a point, through the passes: it says what a price does not,
/// and must say the same.
Result<Report> estimatePoint(Session &session, const ModelRequest &model,
                             const SearchRequest &request,
                             const SearchProblem &problem,
                             const SearchPoint &point);

} // namespace autopar

#endif // AUTOPAR_TOOLS_AUTOPAR_SEARCHREQUESTS_H
