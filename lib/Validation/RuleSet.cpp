//===- RuleSet.cpp --------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Validation/RuleSet.h"

#include "autopar/Support/Json.h"
#include "autopar/Support/Library.h"
#include "autopar/Support/Suggestion.h"
#include "autopar/Support/Text.h"

#include <nlohmann/json.hpp>

#include <algorithm>

using namespace autopar;
using namespace autopar::validation;
using Kind = Rule::Kind;

static std::vector<Rule> repairs() {
  return {
      {"batch-of-rank",
       "batch_size is that of a rank of attention-dp where the source states "
       "batch_size x attention-dp at once",
       Kind::repair},
      {"product-of-degrees",
       "tp or attention-dp 64 with moe tp = ep = 8, or 16 with 4, is the "
       "product of two degrees: 8 (4) and moe tp 1 are meant",
       Kind::repair,
       true,
       {{"smallest_degree", 4}}},
      {"product-of-twos",
       "tp or attention-dp 4 with moe tp = ep = 2 is a product, too, where "
       "product-of-degrees finds one in the same source: 2 and moe tp 1 are "
       "meant",
       Kind::repair},
      {"attention-dp-unstated",
       "attention-dp that is not stated is moe tp x ep / tp", Kind::repair},
      {"tp-equals-dp",
       "tp = attention-dp > 1 with ep = tp x attention-dp is probably tp 1 "
       "with attention-dp = ep = the smaller number; ambiguous",
       Kind::repair},
      {"attention-dp-of-pools",
       "a pool with attention-dp = moe tp > 1 and ep 1 splits attention as it "
       "does experts, tp, on a tray of a rack, and has whole experts, ep, "
       "beyond one: so do the recipes of SGLang that were measured "
       "(github.com/NVIDIA/srt-slurm, recipes/gb200-fp4, gb200-fp8)",
       Kind::repair,
       true,
       {{"tray", 4}},
       {{"runtime", "sglang"}, {"system", "gb200"}}},
      {"one-wave",
       "a series without a word on rounds whose TTFT grows in proportion to "
       "its concurrency sent all requests at once: each of its clients sent "
       "one. From the least concurrency c0 to each other c that does not queue "
       "(TTFT(c) / TTFT(c0) - 1) (c0 + 1) / (c - c0) is near 1, or 2 where one "
       "step has all prompts",
       Kind::repair,
       true,
       // Ten rounds have 0.2 to 0.3, and their geometric mean with 1 is 0.5.
       // More than 2, and a quarter for noise, is a queue's.
       {{"min_growth", 0.5}, {"max_growth", 2.5}, {"min_rows", 3}}},
  };
}

static std::vector<Rule> exclusions() {
  return {
      {"decode-workers-unstated",
       "a disaggregated row that does not say how many workers decode"},
      {"tp-is-a-total",
       "tp beyond a node is the total of a disaggregated deployment",
       Kind::exclude,
       true,
       {{"node", 8}, {"max_tp_on_nodes", 8}, {"max_tp_on_racks", 23}}},
      {"concurrency-differs",
       "the source states another concurrency than the row"},
      {"speculation-unstated",
       "a model with a prediction head, measured when engines used it, without "
       "a word on speculation",
       Kind::exclude,
       true,
       {},
       {{"since", "2026-01-01"}, {"trusted_source", "db-dump"}}},
      {"non-monotone",
       "outside the longest chain of its series in which TPOT does not fall "
       "with concurrency",
       Kind::exclude,
       true,
       {{"tolerance", 0.1}}},
      {"above-peak",
       "the row implies more FLOPs than the machine can do",
       Kind::exclude,
       true,
       {{"max_share_of_peak", 0.6}}},
      {"scheduler-cap",
       "by Little's law fewer requests run than there are, though the KV cache "
       "has room: an unstated cap of the scheduler",
       Kind::exclude,
       true,
       {{"min_running", 0.6}, {"kv_room", 1.5}}},
      {"exact-copy",
       "the machine, the lengths, the concurrency and the figures, in four "
       "digits, of another row: one run that several files have",
       Kind::exclude},
      {"reads-all-experts",
       "an engine that was seen to read all experts every step",
       Kind::apart,
       true,
       {},
       {{"source", "aic-auto-gap"},
        {"runtime", "vllm"},
        {"version", "0.12.0"}}},
  };
}

static std::vector<Rule> scores() {
  return {
      {"ttft",
       "TTFT is compared where answers are long and the measurement does not "
       "queue; of so many rounds of requests, the first of all at once",
       Kind::score,
       true,
       {{"rounds", 10},
        {"min_output_tokens", 1000},
        {"saturated_ms", 3000},
        {"saturated_share", 0.2}}},
      {"streams-in-tens",
       "a dashboard's SGLang sends the first token with the nine after it: it "
       "is launched with --stream-interval 10 on NVIDIA (its launch scripts, "
       "benchmarks/dsr1_fp8_h200, dsr1_fp4_b200)",
       Kind::score,
       true,
       {{"tokens", 10}},
       {{"runtime", "sglang"},
        {"source_field", "silicon_concurrency"},
        {"systems", "h200 b200"}}},
      {"looks-in-tens",
       "and on B200 looks for requests after ten steps, or after thirty where "
       "many are there: --scheduler-recv-interval (benchmarks/dsr1_fp4_b200)",
       Kind::score,
       true,
       {{"steps", 10}, {"many", 16}, {"steps_of_many", 30}},
       {{"runtime", "sglang"},
        {"source_field", "silicon_concurrency"},
        {"systems", "b200"}}},
      {"saturation",
       "whether a row queues is compared away from the edge of the KV cache, "
       "and not on a cold start",
       Kind::score,
       true,
       {{"min_load", 0.8}, {"max_load", 1.3}},
       {{"cold_runtime", "sglang"},
        {"cold_system", "b200"},
        {"cold_precision", "fp4"},
        {"cold_date", "2025-11-10"}}},
  };
}

/// In their order: the first that applies is the reason.
static std::vector<Rule> ofTraining() {
  std::vector<Rule> rules = {
      {"paper-formula",
       "memory as the formulas of a paper have it, which nobody measured"},
      {"architecture-unstated", "the row does not say what was trained"},
      {"micro-batch-unstated",
       "the sequences of a micro-batch are not stated: one is taken",
       Kind::apart},
      {"fine-tuning",
       "another task than pre-training: adapters, packed sequences",
       Kind::exclude,
       true,
       {},
       {{"task", "pre-training"}}},
      {"batch-unstated",
       "the global batch, the sequence length or the number of devices is not "
       "stated"},
      {"degrees-unstated", "tensor or pipeline parallelism is not stated"},
      {"odd-head-size",
       "heads of a size that kernels pad",
       Kind::apart,
       true,
       {{"multiple", 8}}},
      {"zero-3-of-2021",
       "sharded parameters as their first implementation moved them",
       Kind::apart,
       true,
       {{"stage", 3}},
       {{"source", "2021"}}},
      {"fp8-rowwise",
       "fp8 with a scale of every row",
       Kind::apart,
       true,
       {},
       {{"precision", "rowwise"}}},
      {"long-context-parallel",
       "context parallelism beyond what was tuned",
       Kind::apart,
       true,
       {{"min_cp", 4}, {"above_tokens", 100000}}},
      {"nvfp4",
       "products of 4 bits",
       Kind::apart,
       true,
       {},
       {{"precision", "nvfp4"}}},
      {"time-unstated",
       "neither the time of an iteration, nor what gives it, nor a peak of "
       "memory"},
      {"smaller-needs-more",
       "a peak of memory above that of the same plan with a larger "
       "micro-batch"},
  };
  for (Rule &rule : rules)
    rule.of = Rule::Rows::trained;
  return rules;
}

RuleSet autopar::validation::defaultRules() {
  RuleSet all;
  for (const auto &rules : {repairs(), exclusions(), scores(), ofTraining()})
    all.rules.insert(all.rules.end(), rules.begin(), rules.end());
  return all;
}

RuleSet autopar::validation::noRules() {
  RuleSet rules = defaultRules();
  for (Rule &rule : rules.rules)
    rule.enabled = rule.kind == Kind::score;
  return rules;
}

const Rule &RuleSet::get(std::string_view name) const {
  auto found = std::find_if(rules.begin(), rules.end(), [&](const Rule &rule) {
    return rule.name == name;
  });
  assert(found != rules.end() && "no such rule");
  return *found;
}

/// Takes what `reader` says of `rule`.
static void changeRule(Rule &rule, const JsonReader &reader) {
  std::vector<std::string> known = {"enabled", "what"};
  for (const auto &[key, value] : rule.numbers)
    known.push_back(key);
  for (const auto &[key, value] : rule.texts)
    known.push_back(key);
  for (const auto &[key, value] : reader.members()) {
    if (rule.numbers.count(key))
      rule.numbers[key] = value.asNumber(0, 1e15);
    else if (rule.texts.count(key))
      rule.texts[key] = value.asString();
    else if (!std::count(known.begin(), known.end(), key))
      value.fail("the rule has no such parameter",
                 "it has: " + join(known, ", "));
  }
  rule.enabled = reader.booleanOr("enabled", rule.enabled);
}

static Result<RuleSet> readSet(const JsonDocument &document) {
  JsonReader reader = document.reader();
  RuleSet set = defaultRules();
  std::vector<std::string> names;
  for (const Rule &rule : set.rules)
    names.push_back(rule.name);
  reader.allowOnly({"schema", "rules"});
  checkSchema(reader, "autopar.rules/1");
  for (const auto &[name, value] : reader.object("rules").members()) {
    auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end())
      value.fail("there is no such rule" + didYouMean(name, names),
                 "there are: " + join(names, ", "));
    else if (!value.isObject())
      value.fail("expected an object: {\"enabled\": false}");
    else
      changeRule(set.rules[size_t(found - names.begin())], value);
  }
  if (reader.failed())
    return reader.takeError();
  return set;
}

Result<RuleSet> autopar::validation::readRuleSet(const std::string &path) {
  Result<JsonDocument> document = JsonDocument::readFile(path);
  if (!document)
    return document.error();
  return readSet(*document);
}

Result<RuleSet> autopar::validation::parseRuleSet(std::string_view text,
                                                  const std::string &name) {
  Result<JsonDocument> document = JsonDocument::parse(text, name);
  if (!document)
    return document.error();
  return readSet(*document);
}

std::string autopar::validation::ruleSetJson(const RuleSet &set) {
  nlohmann::ordered_json rules = nlohmann::ordered_json::object();
  for (const Rule &rule : set.rules) {
    nlohmann::ordered_json &said = rules[rule.name];
    said["what"] = rule.what;
    said["enabled"] = rule.enabled;
    for (const auto &[key, value] : rule.numbers)
      said[key] = value;
    for (const auto &[key, value] : rule.texts)
      said[key] = value;
  }
  nlohmann::ordered_json root;
  root["schema"] = "autopar.rules/1";
  root["rules"] = std::move(rules);
  return root.dump(2) + "\n";
}
