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

namespace autopar::session {

/// What is searched where no batch is given.
inline constexpr const char *allBatches = "1..32768";

/// What a search is asked for. Flags of machines, runtimes and formats may have
/// several values, "a,b": each combination is a variant. An error without
/// a message has been printed.
Result<SearchRequest> readSearchRequest(const SearchChoices &search,
                                        const pipelines::PlanFlags &flags,
                                        const pipelines::PlanValues &values);

/// What flags that `isOfAllPlans` say, of a plan without degrees: loads are
/// read apart, as they are of experts that lie on several devices.
Result<pipelines::PlanRequest>
readFlagsOfAllPlans(const pipelines::PlanFlags &flags,
                    pipelines::PlanValues values);

/// Fills what `search` says of a request whose variants, and requests, are
/// there: space, goal and the longest times. The error: what of it cannot be.
std::optional<Error> readChoices(const SearchChoices &search,
                                 SearchRequest &request);

/// A step of a plan on a target of what was found, through the passes.
Result<report::Report>
estimatePlan(Session &session, const importer::ModelRequest &model,
             const SearchRequest &request, const SearchOutcome &found,
             size_t target, const plan::Plan &plan, int64_t batch,
             const estimation::ReportDetail &detail = {});

/// The estimate of a point, through the passes: it says what a price does not,
/// and must say the same.
Result<report::Report>
estimatePoint(Session &session, const importer::ModelRequest &model,
              const SearchRequest &request, const SearchOutcome &found,
              const search::SearchPoint &point,
              const estimation::ReportDetail &detail = {});

/// Searches, and adds what a report says beside: the estimate of the best plan,
/// with `detail`, who is too close to call, and why `SearchChoices::why` is not
/// the best.
Result<search::SearchReport>
answerSearch(Session &session, const importer::ModelRequest &model,
             const std::string &name, const SearchRequest &request,
             const std::string &why = "",
             const search::SearchControl &control = {},
             const estimation::ReportDetail &detail = {});

} // namespace autopar::session

#endif // AUTOPAR_SESSION_SEARCHREQUESTS_H
