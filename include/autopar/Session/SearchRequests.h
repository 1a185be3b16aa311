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

/// The batches that a search tries by default.
inline constexpr const char *allBatches = "1..32768";

/// Reads the flags of a search. Flags for machines, runtimes and formats may
/// have several values, "a,b": each combination becomes a variant. An error
/// without a message has been printed.
Result<SearchRequest> readSearchRequest(const SearchChoices &search,
                                        const pipelines::PlanFlags &flags,
                                        const pipelines::PlanValues &values);

/// Reads the flags for which `isOfAllPlans` holds, for a plan without degrees.
/// Expert loads are read separately, because they apply only to experts on
/// several devices.
Result<pipelines::PlanRequest>
readFlagsOfAllPlans(const pipelines::PlanFlags &flags,
                    pipelines::PlanValues values);

/// Sets the space, the goal and the latency limits of a request whose variants
/// and requests are set. Returns an error for an invalid choice.
std::optional<Error> readChoices(const SearchChoices &search,
                                 SearchRequest &request);

/// Estimates a step of a plan on target `target` of `found`, by running the
/// passes of `autopar estimate`.
Result<report::Report>
estimatePlan(Session &session, const importer::ModelRequest &model,
             const SearchRequest &request, const SearchOutcome &found,
             size_t target, const plan::Plan &plan, int64_t batch,
             const estimation::ReportDetail &detail = {});

/// Estimates a point of a search by running the passes of `autopar estimate`.
/// The report contains more than the price of the search, and must agree with
/// it.
Result<report::Report>
estimatePoint(Session &session, const importer::ModelRequest &model,
              const SearchRequest &request, const SearchOutcome &found,
              const search::SearchPoint &point,
              const estimation::ReportDetail &detail = {});

/// Searches, and adds what a report contains besides: the estimate of the best
/// plan, with `detail`; rivals that are too close to call; the reason why the
/// plan `why` is not the best.
Result<search::SearchReport>
answerSearch(Session &session, const importer::ModelRequest &model,
             const std::string &name, const SearchRequest &request,
             const std::string &why = "",
             const search::SearchControl &control = {},
             const estimation::ReportDetail &detail = {});

} // namespace autopar::session

#endif // AUTOPAR_SESSION_SEARCHREQUESTS_H
