//===- SearchRequests.cpp -------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Session/SearchRequests.h"

#include "autopar/Hub/Hub.h"
#include "autopar/Pipelines/FlagValues.h"
#include "autopar/Plan/PlanKnobs.h"
#include "autopar/Search/SearchReport.h"
#include "autopar/Support/Count.h"
#include "autopar/Support/Limits.h"
#include "autopar/Support/NumberList.h"
#include "autopar/Support/Text.h"
#include "autopar/Support/Words.h"

#include <algorithm>

using namespace autopar;
using namespace autopar::estimation;
using namespace autopar::hub;
using namespace autopar::importer;
using namespace autopar::model;
using namespace autopar::pipelines;
using namespace autopar::placement;
using namespace autopar::plan;
using namespace autopar::program;
using namespace autopar::report;
using namespace autopar::schedule;
using namespace autopar::search;
using namespace autopar::session;

/// The largest number of combinations of flags that have several values.
static constexpr size_t maxVariants = 256;

namespace {

class SearchReader {
public:
  SearchReader(const SearchChoices &search, const PlanFlags &flags,
               const PlanValues &values)
      : search(search), flags(flags), values(values) {}

  Result<SearchRequest> read();

private:
  std::vector<std::string> &valuesOf(const char *name) {
    return autopar::pipelines::valuesOf(flags, values, name);
  }
  std::string valueOf(const char *name) {
    std::vector<std::string> &all = valuesOf(name);
    return all.empty() ? "" : all.back();
  }
  std::optional<Error> readRequests();
  std::optional<Error> readSizes();
  std::optional<Error> addVariants(size_t flag);
  std::optional<Error> addVariant();

  const SearchChoices &search;
  const PlanFlags &flags;
  PlanValues values;
  SearchRequest request;
  /// The weight format of the variant that is being made.
  std::string weightFormat;
};

} // namespace

/// Reads a question about requests. Requests have both phases: decode steps,
/// with prefills beside them.
std::optional<Error> SearchReader::readRequests() {
  std::string phase = valueOf("phase");
  if (!phase.empty() && phase != "request" && !parsePhase(phase))
    return Error{"", "--phase=" + shorten(phase) + ": no such phase",
                 "decode, prefill, train or request"};
  if (phase != "request") {
    if (search.answer.empty())
      return std::nullopt;
    return Error{"", "--output-tokens is for requests",
                 "add --phase=request, or leave it out"};
  }
  auto prompt = parseCount(valueOf("prompt"));
  auto answer = parseCount(search.answer);
  for (const auto &[name, count, text] :
       {std::tuple("--prompt", prompt, valueOf("prompt")),
        std::tuple("--output-tokens", answer, search.answer)})
    if (!count || *count < 1 || *count > limits::maxTokens / 2)
      return Error{"",
                   text.empty() ? "--phase=request needs " + std::string(name)
                                : std::string(name) + "=" + shorten(text) +
                                      ": expected a number from 1 to " +
                                      std::to_string(limits::maxTokens / 2),
                   "as in --prompt=2000 --output-tokens=500"};
  if (!valueOf("context").empty())
    return Error{"", "--context is for steps",
                 "the context of a request is its prompt and its answer"};
  request.requests = RequestTokens{*prompt, *answer};
  valuesOf("phase") = {std::string(nameOf(Phase::decode))};
  valuesOf("prompt").clear();
  valuesOf("context") = {std::to_string(*prompt + *answer)};
  return std::nullopt;
}

std::optional<Error> SearchReader::readSizes() {
  if (!search.devices.empty()) {
    auto devices = readCounts("--devices", search.devices, limits::maxDevices);
    if (!devices)
      return devices.error();
    request.devices = *devices;
  }
  if (search.batches.empty() && valueOf("phase") == nameOf(Phase::train))
    return Error{"",
                 "--phase=train needs --batch, the sequences of an iteration",
                 "as in --batch=512"};
  auto batches = readCounts(
      "--batch", search.batches.empty() ? allBatches : search.batches,
      limits::maxTokens);
  if (!batches)
    return batches.error();
  request.batches = *batches;
  return std::nullopt;
}

/// Returns whether a search may have several values of this flag.
static bool mayBeSeveral(const std::string &name) {
  constexpr const char *several[] = {"hardware",
                                     "runtime",
                                     "dtype",
                                     "kv-format",
                                     "kv-dtype",
                                     "prefill-chunk",
                                     "max-num-seqs",
                                     "max-num-batched-tokens",
                                     "memory-utilization",
                                     "gpu-memory-utilization"};
  return std::find(std::begin(several), std::end(several), name) !=
         std::end(several);
}

std::optional<Error> SearchReader::addVariant() {
  if (request.variants.size() == maxVariants)
    return Error{"",
                 "more than " + std::to_string(maxVariants) +
                     " combinations of machines, runtimes and formats",
                 "give fewer values of a flag"};
  Result<PlanRequest> base = readFlagsOfAllPlans(flags, values);
  if (!base)
    return base.error();
  if (!base->workload.phase)
    base->workload.phase = Phase::decode;
  SearchVariant variant{std::move(*base), weightFormat, {}};
  for (size_t i = 0; i < values.size(); ++i) {
    const std::string &name = flags.all()[i].name;
    // The values of these flags follow from the requests.
    if (request.requests && (name == "phase" || name == "context"))
      continue;
    // The flag --report-output does not affect the search.
    if (name == "report-output")
      continue;
    for (const std::string &value : values[i])
      variant.flags.push_back({name, value});
  }
  if (!weightFormat.empty())
    variant.flags.push_back({"weight-format", weightFormat});
  request.variants.push_back(std::move(variant));
  return std::nullopt;
}

/// Adds a variant for each combination of values of the flags from number
/// `flag` on.
std::optional<Error> SearchReader::addVariants(size_t flag) {
  if (flag == values.size())
    return addVariant();
  std::vector<std::string> given = values[flag];
  std::vector<std::string> words;
  if (mayBeSeveral(flags.all()[flag].name) && !given.empty())
    words = wordsOf(given.back(), ",|");
  if (words.empty())
    return addVariants(flag + 1);
  for (const std::string &word : words) {
    values[flag] = {word};
    if (std::optional<Error> error = addVariants(flag + 1))
      return error;
  }
  values[flag] = given;
  return std::nullopt;
}

Result<SearchRequest> SearchReader::read() {
  for (auto reader : {&SearchReader::readRequests, &SearchReader::readSizes})
    if (std::optional<Error> error = (this->*reader)())
      return *error;
  std::vector<std::string> formats = wordsOf(search.weightFormat, ",|");
  if (formats.empty())
    formats.emplace_back();
  for (const std::string &format : formats) {
    weightFormat = format;
    if (std::optional<Error> error = addVariants(0))
      return *error;
  }
  if (std::optional<Error> error = readChoices(search, request))
    return *error;
  return std::move(request);
}

bool autopar::session::isOfAllPlans(const std::string &name) {
  static constexpr std::string_view others[] = {
      "hardware",       "phase",        "prompt",       "context",
      "nodes",          "price",        "runtime",      "set",
      "encoder-tokens", "cross-tokens", "report-output"};
  auto isOfKnob = [&](const PlanKnob &knob) {
    return knob.isOfAllPlans && (name == (knob.flag ? knob.flag : "") ||
                                 name == (knob.alias ? knob.alias : ""));
  };
  return std::find(std::begin(others), std::end(others), name) !=
             std::end(others) ||
         std::any_of(planKnobs().begin(), planKnobs().end(), isOfKnob);
}

/// Expert loads belong only to plans with ep, and the plans are not known yet.
Result<PlanRequest>
autopar::session::readFlagsOfAllPlans(const PlanFlags &flags,
                                      PlanValues values) {
  std::vector<std::string> loads;
  loads.swap(valuesOf(flags, values, "expert-load"));
  if (!loads.empty() && loads.back() == "-")
    return Error{"", "--expert-load=-: a search reads loads more than once",
                 "give a file"};
  Result<PlanRequest> request = readFlags(values);
  if (request && !loads.empty())
    request->plan.expertPlacement.emplace().sources.load = loads.back();
  return request;
}

Result<SearchRequest>
autopar::session::readSearchRequest(const SearchChoices &search,
                                    const PlanFlags &flags,
                                    const PlanValues &values) {
  return SearchReader(search, flags, values).read();
}

std::optional<Error> autopar::session::readChoices(const SearchChoices &search,
                                                   SearchRequest &request) {
  for (const SearchVariant &variant : request.variants)
    if (variant.base.plan.prefillChunk == 0)
      return Error{"", "--prefill-chunk=none: a search needs a number",
                   "give one that holds the prompts, as --prefill-chunk=1M"};
  Result<SearchSpace> space = parseSearchSpace(search.space);
  if (!space)
    return space.error();
  request.space = *space;
  request.verify = search.verify;
  request.goal = parseGoal(search.goal).value_or(Goal::throughput);
  request.cacheDirectory = cacheDirectory() + "/strategies";
  std::optional<Phase> phase = request.variants.front().base.workload.phase;
  Result<ServiceLimits> limits = parseServiceLimits(
      search.sla, request.requests
                      ? std::nullopt
                      : std::optional(phase.value_or(Phase::decode)));
  if (!limits)
    return limits.error().behind("--sla=");
  request.limits = *limits;
  return std::nullopt;
}

Result<Report> autopar::session::estimatePlan(
    Session &session, const ModelRequest &model, const SearchRequest &request,
    const SearchOutcome &found, size_t target, const Plan &plan, int64_t batch,
    const ReportDetail &detail) {
  const SearchVariant &variant = request.variants[found.variants[target]];
  PlanRequest one = variant.base;
  one.plan = plan;
  one.target.nodes = found.problem.targets[target].machine.pools.front().nodes;
  one.workload.batch = batch;
  ModelRequest own = model;
  if (!variant.weightFormat.empty())
    own.weightFormat = variant.weightFormat;
  return session.estimate(own, one, detail);
}

Result<Report> autopar::session::estimatePoint(Session &session,
                                               const ModelRequest &model,
                                               const SearchRequest &request,
                                               const SearchOutcome &found,
                                               const SearchPoint &point,
                                               const ReportDetail &detail) {
  Result<Report> estimate =
      estimatePlan(session, model, request, found, point.target, point.plan,
                   point.batch, detail);
  if (estimate && estimate->latency.stepTimeUs != point.timeUs)
    return Error{"",
                 "the search and the estimate of " + labelOf(point) +
                     " differ: " + formatNumber(point.timeUs) + " us and " +
                     formatNumber(estimate->latency.stepTimeUs) + " us",
                 "this is a defect of autopar"};
  return estimate;
}
