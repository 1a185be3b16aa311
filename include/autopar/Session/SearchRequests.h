//===- SearchRequests.h - From flags to searches ----------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_SESSION_SEARCHREQUESTS_H
#define AUTOPAR_SESSION_SEARCHREQUESTS_H

#include "autopar/Pipelines/PlanFlags.h"
#include "autopar/Search/SearchReport.h"
#include "autopar/Session/SearchChoices.h"
#include "autopar/Session/Session.h"

namespace autopar {

/// What is searched where no batch is given.
inline constexpr const char *allBatches = "1..32768";

/// What a search is asked for. Flags of machines, runtimes and formats may have
/// several values, "a,b": each combination is a variant. An error without
/// a message has been printed.
Result<SearchRequest> readSearchRequest(const SearchChoices &search,
                                        const PlanFlags &flags,
                                        const PlanValues &values);

/// What flags that `isOfAllPlans` say, of a plan without degrees: loads are
/// read apart, as they are of experts that lie on several devices.
Result<PlanRequest> readFlagsOfAllPlans(const PlanFlags &flags,
                                        PlanValues values);

/// Fills what `search` says of a request whose variants, and requests, are
/// there: space, goal and the longest times. The error: what of it cannot be.
std::optional<Error> readChoices(const SearchChoices &search,
                                 SearchRequest &request);

/// A step of a plan on a target of what was found, through the passes.
Result<Report> estimatePlan(Session &session, const ModelRequest &model,
                            const SearchRequest &request,
                            const SearchOutcome &found, size_t target,
                            const Plan &plan, int64_t batch,
                            const ReportDetail &detail = {});

/// The estimate of a point, through the passes: it says what a price does not,
/// and must say the same.
Result<Report> estimatePoint(Session &session, const ModelRequest &model,
                             const SearchRequest &request,
                             const SearchOutcome &found,
                             const SearchPoint &point,
                             const ReportDetail &detail = {});

/// Searches, and adds what a report says beside: the estimate of the best plan,
/// with `detail`, who is too close to call, and why `SearchChoices::why` is not
/// the best.
Result<SearchReport> answerSearch(Session &session, const ModelRequest &model,
                                  const std::string &name,
                                  const SearchRequest &request,
                                  const std::string &why = "",
                                  const SearchControl &control = {},
                                  const ReportDetail &detail = {});

} // namespace autopar

#endif // AUTOPAR_SESSION_SEARCHREQUESTS_H
