//===- SearchJson.cpp - autopar.search/1 and tables -----------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Search/SearchReport.h"

#include "autopar/Report/JsonText.h"
#include "autopar/Support/Text.h"

using namespace autopar;

using Json = nlohmann::ordered_json;

static Json writeTarget(const SearchTarget &target) {
  const Pool &pool = target.machine.pools.front();
  return {{"hardware", target.machine.name},
          {"nodes", pool.nodes},
          {"devices", target.devices},
          {"runtime", target.runtime.label()}};
}

static Json writePoint(const SearchReport &report, const SearchPoint &point) {
  Json one = writeTarget(report.problem.targets[point.target]);
  one["label"] = labelOf(point);
  one["batch"] = point.batch;
  one["step_time_us"] = point.stepUs;
  one["tokens_per_s"] = point.tokensPerS;
  one["usd_per_million_tokens"] = point.dollarsPerMillionTokens
                                      ? Json(*point.dollarsPerMillionTokens)
                                      : Json();
  one["plan"] = Json::parse(writePlan(point.plan));
  return one;
}

static Json writeProof(const SearchResult &result) {
  const SearchProof &proof = result.proof;
  return {{"complete", result.complete},  {"space", proof.space},
          {"evaluated", proof.evaluated}, {"shared_prices", proof.sharedPrices},
          {"excluded", proof.excluded},   {"unfit", proof.unfit},
          {"illegal", proof.illegal},     {"strategies", result.strategies}};
}

static Json writeUnfit(const SearchReport &report) {
  const UnfitPoint &closest = *report.result.closest;
  Json one = writeTarget(report.problem.targets[closest.target]);
  one["batch"] = closest.batch;
  one["total_bytes"] = static_cast<int64_t>(closest.totalBytes);
  one["plan"] = Json::parse(writePlan(closest.plan));
  return one;
}

static Json writeWhy(const SearchWhy &why) {
  return {{"plan", why.plan},
          {"answer", nameOf(why.answer)},
          {"refusal", why.refusal},
          {"batch", why.batch},
          {"step_time_us", why.stepUs},
          {"tokens_per_s", why.tokensPerS},
          {"total_bytes", static_cast<int64_t>(why.totalBytes)}};
}

std::string autopar::writeJson(const SearchReport &report) {
  const SearchProblem &problem = report.problem;
  const SearchResult &result = report.result;
  Json root;
  root["schema"] = "autopar.search/1";
  root["model"] = report.model;
  root["workload"] = {{"phase", nameOf(problem.workload.phase)},
                      {"query_length", problem.workload.query},
                      {"context_length", problem.workload.context}};
  root["space"] = spaceText(problem.space);
  root["batches"] = problem.batches;
  root["goal"] = nameOf(problem.goal);
  root["max_step_time_us"] =
      problem.maxStepUs ? Json(*problem.maxStepUs) : Json();
  for (const SearchTarget &target : problem.targets)
    root["targets"].push_back(writeTarget(target));
  root["best"] = result.best ? Json(*result.best) : Json();
  root["frontier"] = Json::array();
  for (const SearchPoint &point : result.frontier)
    root["frontier"].push_back(writePoint(report, point));
  root["effects"] = Json::object();
  for (const KnobEffect &effect : result.effects) {
    Json &own = root["effects"][effect.name];
    own["within_5_percent"] = effect.close;
    for (auto [value, best] : effect.best)
      own["best"][std::to_string(value)] = best;
  }
  root["closest_unfit"] = result.closest ? writeUnfit(report) : Json();
  root["why"] = report.why ? writeWhy(*report.why) : Json();
  root["proof"] = writeProof(result);
  return printJson(root);
}

std::string autopar::writeCsv(const SearchReport &report) {
  std::string text = "hardware,devices,batch,step_time_us,tokens_per_s,"
                     "usd_per_million_tokens,plan\n";
  for (const SearchPoint &point : report.result.frontier) {
    const SearchTarget &target = report.problem.targets[point.target];
    text += target.machine.name + "," + std::to_string(target.devices) + "," +
            std::to_string(point.batch) + "," + formatNumber(point.stepUs) +
            "," + formatNumber(point.tokensPerS) + "," +
            (point.dollarsPerMillionTokens
                 ? formatNumber(*point.dollarsPerMillionTokens)
                 : "") +
            ",\"" + labelOf(point) + "\"\n";
  }
  return text;
}
