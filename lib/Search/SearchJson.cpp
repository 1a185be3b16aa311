//===- SearchJson.cpp - autopar.search/1 and tables -----------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Search/SearchReport.h"

#include "QuestionKind.h"

#include "autopar/Support/JsonText.h"
#include "autopar/Support/Text.h"

using namespace autopar;
using namespace autopar::hardware;
using namespace autopar::placement;
using namespace autopar::plan;
using namespace autopar::program;
using namespace autopar::report;
using namespace autopar::schedule;
using namespace autopar::search;

using Json = nlohmann::ordered_json;

static Json writeTarget(const SearchTarget &target) {
  const Pool &pool = target.machine.pools.front();
  Json flags = Json::object();
  for (const GivenFlag &flag : target.flags)
    flags[flag.name] = flag.value;
  return {{"hardware", target.machine.name},
          {"nodes", pool.nodes},
          {"devices", target.devices},
          {"runtime", target.runtime.label()},
          {"flags", flags}};
}

template <typename Value>
static Json orNull(const std::optional<Value> &value) {
  return value ? Json(*value) : Json();
}

static Json writePoint(const SearchReport &report, const SearchPoint &point) {
  Json one = writeTarget(report.problem.targets[point.target]);
  one["label"] = labelOf(point);
  one["batch"] = point.batch;
  const QuestionKind &kind = report.problem.kind();
  one[kind.timeKey()] = point.timeUs;
  if (kind.hasTokenTimes()) {
    one["ttft_us"] = point.ttftUs;
    one["tpot_us"] = point.tpotUs;
  }
  if (kind.comparesMemory())
    one["total_bytes"] = static_cast<int64_t>(point.totalBytes);
  one["tokens_per_s"] = point.tokensPerS;
  one["usd_per_million_tokens"] = orNull(point.dollarsPerMillionTokens);
  one["plan"] = Json::parse(writePlan(point.plan));
  return one;
}

static Json writeRival(const SearchReport &report, size_t index) {
  const Rival &rival = report.result.rivals[index];
  Json one = writePoint(report, rival.point);
  one["share"] = rival.share;
  one["best_where"] = Json();
  for (const CloseCall &call : report.closeCalls)
    if (call.rival == index)
      one["best_where"] = {{"path", call.path},
                           {"change", call.change},
                           {"error", orNull(call.error)},
                           {"is_close", call.isClose()}};
  return one;
}

static Json writeProof(const SearchResult &result) {
  const SearchProof &proof = result.proof;
  return {
      {"complete", result.complete},  {"space", proof.space},
      {"evaluated", proof.evaluated}, {"shared_prices", proof.sharedPrices},
      {"excluded", proof.excluded},   {"excluded_fsdp", proof.excludedGathers},
      {"unfit", proof.unfit},         {"illegal", proof.illegal},
      {"too_slow", proof.tooSlow},    {"strategies", result.strategies}};
}

static Json writeUnfit(const SearchReport &report) {
  const UnfitPoint &closest = *report.result.closest;
  Json one = writeTarget(report.problem.targets[closest.target]);
  one["batch"] = closest.batch;
  one["total_bytes"] = static_cast<int64_t>(closest.totalBytes);
  one["plan"] = Json::parse(writePlan(closest.plan));
  return one;
}

static Json writeWhy(const SearchReport &report) {
  const SearchWhy &why = *report.why;
  return {{"plan", why.plan},
          {"answer", nameOf(why.answer)},
          {"refusal", why.refusal},
          {"batch", why.batch},
          {report.problem.kind().timeKey(), why.timeUs},
          {"tokens_per_s", why.tokensPerS},
          {"total_bytes", static_cast<int64_t>(why.totalBytes)}};
}

std::string autopar::search::writeJson(const SearchReport &report) {
  const SearchProblem &problem = report.problem;
  const SearchResult &result = report.result;
  Json root;
  root["schema"] = "autopar.search/1";
  root["model"] = report.model;
  root["workload"] = {{"phase", problem.kind().phaseKey(problem)},
                      {"query_length", problem.workload().query},
                      {"context_length", problem.workload().context}};
  if (const auto *asked = std::get_if<FollowingRequests>(&problem.question)) {
    root["workload"]["prompt_tokens"] = asked->prompt;
    root["workload"]["answer_tokens"] = asked->answer;
  }
  root["space"] = spaceText(problem.space);
  root["batches"] = problem.batches;
  root["goal"] = nameOf(problem.goal);
  root["max_step_time_us"] = orNull(problem.stepLimitUs());
  root["limits"] = {{"ttft_us", orNull(problem.limits.ttftUs)},
                    {"tpot_us", orNull(problem.limits.tpotUs)}};
  for (const SearchTarget &target : problem.targets)
    root["targets"].push_back(writeTarget(target));
  root["best"] = result.best ? Json(*result.best) : Json();
  root["frontier"] = Json::array();
  for (const SearchPoint &point : result.frontier)
    root["frontier"].push_back(writePoint(report, point));
  root["refusal"] = report.refusal;
  root["effects"] = Json::object();
  for (const KnobEffect &effect : result.effects) {
    Json &own = root["effects"][effect.name];
    own["within_5_percent"] = Json::array();
    for (const KnobEffect::Value &value : effect.values) {
      if (value.isClose)
        own["within_5_percent"].push_back(value.text);
      own["best"][value.text] = value.best;
    }
  }
  root["rivals"] = Json::array();
  for (size_t i = 0; i < result.rivals.size(); ++i)
    root["rivals"].push_back(writeRival(report, i));
  root["closest_unfit"] = result.closest ? writeUnfit(report) : Json();
  root["why"] = report.why ? writeWhy(report) : Json();
  root["proof"] = writeProof(result);
  return printJson(root);
}

std::string autopar::search::writeCsv(const SearchReport &report) {
  const QuestionKind &kind = report.problem.kind();
  std::string text = "hardware,devices,batch," + kind.timeKey() +
                     (kind.hasTokenTimes() ? ",ttft_us,tpot_us" : "") +
                     (kind.comparesMemory() ? ",total_bytes" : "") +
                     ",tokens_per_s,usd_per_million_tokens,plan\n";
  for (const SearchPoint &point : report.result.frontier) {
    const SearchTarget &target = report.problem.targets[point.target];
    text +=
        target.machine.name + "," + std::to_string(target.devices) + "," +
        std::to_string(point.batch) + "," + formatNumber(point.timeUs) +
        (kind.hasTokenTimes() ? "," + formatNumber(point.ttftUs) + "," +
                                    formatNumber(point.tpotUs)
                              : "") +
        (kind.comparesMemory() ? "," + formatNumber(point.totalBytes) : "") +
        "," + formatNumber(point.tokensPerS) + "," +
        (point.dollarsPerMillionTokens
             ? formatNumber(*point.dollarsPerMillionTokens)
             : "") +
        ",\"" + labelOf(point) + "\"\n";
  }
  return text;
}
