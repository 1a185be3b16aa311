//===- Runtime.cpp --------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Runtime/Runtime.h"

#include "autopar/Hardware/Figures.h"
#include "autopar/Support/File.h"
#include "autopar/Support/Text.h"

#include <cmath>

using namespace autopar;

std::vector<std::string> autopar::runtimeNames() {
  return namesIn(dataDirectory("runtimes"));
}

/// A figure that counts whole things.
static Figure readCount(const JsonReader &reader, std::string_view key,
                        const std::string &path) {
  Figure figure = readFigure(reader, key, units::count, path);
  if (!reader.failed() && std::floor(figure.value) != figure.value)
    reader.object(key).failAt("value", "expected a whole number, found " +
                                           formatNumber(figure.value));
  return figure;
}

/// Whether `key` says `second`, not `first`.
static bool readEither(const JsonReader &reader, const char *key,
                       const std::string &first, const std::string &second) {
  std::string said = reader.string(key);
  if (!reader.failed() && said != first && said != second)
    reader.failAt(key, "expected \"" + first + "\" or \"" + second +
                           "\", found \"" + shorten(said) + "\"");
  return said == second;
}

static KVCacheRule readKVCacheRule(const JsonReader &reader) {
  static constexpr std::pair<const char *, KVCacheRule> rules[] = {
      {"model", KVCacheRule::model},
      {"fp8_if_quantized", KVCacheRule::fp8_if_quantized},
      {"fp8_if_quantized_on_fp4_chips",
       KVCacheRule::fp8_if_quantized_on_fp4_chips}};
  std::string name = reader.string("kv_cache");
  std::vector<std::string> known;
  for (auto [text, rule] : rules) {
    if (name == text)
      return rule;
    known.push_back(text);
  }
  if (!reader.failed())
    reader.failAt("kv_cache", "expected one of " + join(known, ", ") +
                                  ", found \"" + shorten(name) + "\"");
  return KVCacheRule::model;
}

static Runtime readFields(const JsonReader &reader) {
  Runtime runtime;
  reader.allowOnly({"schema",
                    "name",
                    "title",
                    "budget_rule",
                    "memory_utilization",
                    "context_bytes",
                    "library_bytes",
                    "communication_bytes",
                    "graph_bytes",
                    "kv_block_tokens",
                    "profile_tokens",
                    "profile_sequences",
                    "sampler_bytes_per_logit",
                    "host_time",
                    "host_time_per_layer",
                    "host_time_per_sequence",
                    "routing_skew",
                    "kernel_floor",
                    "token_budget",
                    "max_sequences",
                    "prefill",
                    "prompt_step_time",
                    "prompt_step_share",
                    "kv_cache",
                    "collectives",
                    "vocabulary_multiple",
                    "merges_shared_input",
                    "fuses_elementwise",
                    "ideal"});
  checkSchema(reader, "autopar.runtime/1");
  runtime.name = readName(reader);
  runtime.title = reader.string("title");
  bool isOfFree = readEither(reader, "budget_rule", "fraction_of_total",
                             "fraction_of_free");
  runtime.budgetRule =
      isOfFree ? BudgetRule::fraction_of_free : BudgetRule::fraction_of_total;
  std::string path = "runtimes." + runtime.name;
  auto bytes = [&](std::string_view key) {
    return readFigure(reader, key, units::bytes, path);
  };
  runtime.memoryUtilization =
      readFigure(reader, "memory_utilization", units::fraction, path);
  runtime.contextBytes = bytes("context_bytes");
  runtime.libraryBytes = bytes("library_bytes");
  runtime.communicationBytes = bytes("communication_bytes");
  runtime.graphBytes = bytes("graph_bytes");
  runtime.kvBlockTokens = readCount(reader, "kv_block_tokens", path);
  runtime.hostTimeUs =
      readFigure(reader, "host_time", units::microseconds, path);
  runtime.hostTimePerLayerUs =
      readFigure(reader, "host_time_per_layer", units::microseconds, path);
  runtime.hostTimePerSequenceUs =
      readFigure(reader, "host_time_per_sequence", units::microseconds, path);
  runtime.routingSkew =
      readFigure(reader, "routing_skew", units::exponent, path);
  runtime.kernelFloorUs =
      readFigure(reader, "kernel_floor", units::microseconds, path);
  runtime.profileTokens =
      readFigure(reader, "profile_tokens", units::countOrNone, path);
  runtime.profileSequences =
      readFigure(reader, "profile_sequences", units::countOrNone, path);
  runtime.samplerBytesPerLogit =
      readFigure(reader, "sampler_bytes_per_logit", units::bytesEach, path);
  runtime.tokenBudget = readCount(reader, "token_budget", path);
  runtime.maxSequences = readCount(reader, "max_sequences", path);
  runtime.fusesPrompts = !readEither(reader, "prefill", "fused", "alternating");
  runtime.promptStepUs =
      readFigure(reader, "prompt_step_time", units::microseconds, path);
  runtime.promptStepShare =
      readFigure(reader, "prompt_step_share", units::fraction, path);
  runtime.kvCacheRule = readKVCacheRule(reader);
  runtime.collectives = reader.string("collectives");
  runtime.vocabularyMultiple = readCount(reader, "vocabulary_multiple", path);
  runtime.mergesSharedInput = reader.boolean("merges_shared_input");
  runtime.fusesElementwise = reader.boolean("fuses_elementwise");
  runtime.ideal = reader.boolean("ideal");
  return runtime;
}

Result<Runtime> autopar::readRuntime(const std::string &nameOrPath,
                                     const std::vector<Override> &overrides,
                                     std::vector<bool> &usedOverrides) {
  Result<std::string> file =
      locateFile(nameOrPath, dataDirectory("runtimes"), "runtime");
  if (!file)
    return file.error();
  Result<JsonDocument> document = JsonDocument::readFile(*file);
  if (!document)
    return document.error();
  JsonReader head = document->reader();
  std::string name = readName(head);
  if (!isPath(nameOrPath))
    checkFileName(head, name, *file);
  if (head.failed())
    return head.takeError();
  std::string prefix = "runtimes." + name;
  if (auto error = applyOverrides(*document, prefix, overrides, usedOverrides))
    return *error;
  JsonReader reader = document->reader();
  Runtime runtime = readFields(reader);
  if (reader.failed())
    return explainOverrides(reader.takeError(), prefix, overrides);
  return runtime;
}

std::optional<Error>
autopar::unusedRuntimeOverride(const std::vector<Override> &overrides,
                               const std::vector<bool> &used) {
  if (overrides.empty())
    return std::nullopt;
  std::vector<std::string> known;
  for (const std::string &name : runtimeNames())
    known.push_back("runtimes." + name);
  for (size_t i = 0; i < overrides.size(); ++i) {
    const std::string &path = overrides[i].path;
    if ((i < used.size() && used[i]) || path.compare(0, 9, "runtimes.") != 0)
      continue;
    std::string owner = path.substr(0, path.find('.', 9));
    std::string near = nearest(owner, known);
    return Error{"",
                 "override \"" + shorten(path) +
                     "\" has no effect: it names no runtime in use",
                 near.empty() || near == owner
                     ? "known: " + join(known, ", ")
                     : "did you mean \"" + near + "\"?"};
  }
  return std::nullopt;
}
