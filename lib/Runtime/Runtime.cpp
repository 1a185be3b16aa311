//===- Runtime.cpp --------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Runtime/Runtime.h"

#include "CacheRows.h"
#include "Choice.h"
#include "TrainingFields.h"

#include "autopar/Hardware/Figures.h"
#include "autopar/Support/File.h"
#include "autopar/Support/Limits.h"
#include "autopar/Support/Suggestion.h"
#include "autopar/Support/Text.h"

#include <algorithm>
#include <cmath>

using namespace autopar;
using namespace autopar::hardware;
using namespace autopar::runtime;

std::vector<std::string> autopar::runtime::runtimeNames() {
  return namesIn(dataDirectory("runtimes"));
}

//===----------------------------------------------------------------------===//
// Reading figures
//===----------------------------------------------------------------------===//

namespace {

struct FigureField {
  const char *key;
  UnitRange unit;
  Figure Runtime::*figure;
  /// Whether the figure must be an integer, because it counts something.
  bool isWhole = false;
  /// The default of the figure in files that do not have it; if there is no
  /// default, files must have the figure.
  std::optional<double> absent = std::nullopt;
};

} // namespace

static const FigureField figureFields[] = {
    {"memory_utilization", units::fraction, &Runtime::memoryUtilization},
    {"context_bytes", units::bytes, &Runtime::contextBytes},
    {"library_bytes", units::bytes, &Runtime::libraryBytes},
    {"communication_bytes", units::bytes, &Runtime::communicationBytes},
    {"communication_bytes_per_peer", units::bytes,
     &Runtime::communicationBytesPerPeer, false, 0},
    {"graph_bytes", units::bytes, &Runtime::graphBytes},
    {"graph_bytes_each", units::bytes, &Runtime::graphBytesEach},
    {"graphs", units::countOrNone, &Runtime::graphs, true},
    {"whole_graphs", units::countOrNone, &Runtime::wholeGraphs, true, 0},
    {"largest_graph", units::count, &Runtime::largestGraph, true,
     limits::maxTokens},
    {"graph_tokens_per_sequence", units::count,
     &Runtime::graphTokensPerSequence, true, 1},
    {"graph_bytes_per_recurrent_graph", units::bytes,
     &Runtime::graphBytesPerRecurrentGraph, false, 0},
    {"expert_hidden_multiple", units::count, &Runtime::expertHiddenMultiple,
     true, 1},
    {"expert_intermediate_multiple", units::count,
     &Runtime::expertIntermediateMultiple, true, 1},
    {"expert_contraction_multiple", units::count,
     &Runtime::expertContractionMultiple, true, 1},
    {"reserve_bytes", units::bytes, &Runtime::reserveBytes},
    {"reserve_bytes_per_token", units::bytes, &Runtime::reserveBytesPerToken},
    {"reserve_bytes_per_peer", units::bytes, &Runtime::reserveBytesPerPeer},
    {"reserve_least", units::bytes, &Runtime::reserveLeast},
    {"reserve_bytes_per_graph_sequence", units::bytes,
     &Runtime::reserveBytesPerGraphSequence, false, 0},
    {"graph_sequences", units::countOrNone, &Runtime::graphSequences, true, 0},
    {"profile_tokens", units::countOrNone, &Runtime::profileTokens, true},
    {"profile_sequences", units::countOrNone, &Runtime::profileSequences, true},
    {"profile_hidden_states", units::countOrNone, &Runtime::profileHiddenStates,
     true},
    {"sampler_bytes_per_logit", units::bytesEach,
     &Runtime::samplerBytesPerLogit},
    {"keeps_expert_workspace", units::noneOrOne, &Runtime::keepsExpertWorkspace,
     true},
    {"kv_block_tokens", units::count, &Runtime::kvBlockTokens, true},
    {"host_time", units::microseconds, &Runtime::hostTimeUs},
    {"host_time_per_layer", units::microseconds, &Runtime::hostTimePerLayerUs},
    {"host_time_per_sequence", units::microseconds,
     &Runtime::hostTimePerSequenceUs},
    {"overlaps_shared_experts", units::noneOrOne,
     &Runtime::overlapsSharedExperts, true, 0},
    {"routing_skew", units::exponent, &Runtime::routingSkew},
    {"kernel_floor", units::microseconds, &Runtime::kernelFloorUs},
    {"token_budget", units::count, &Runtime::tokenBudget, true},
    {"max_sequences", units::count, &Runtime::maxSequences, true},
    {"prompt_step_time", units::microseconds, &Runtime::promptStepUs},
    {"prompt_step_share", units::fraction, &Runtime::promptStepShare},
    {"eager_step_time", units::microseconds, &Runtime::eagerStepUs, false, 0},
    {"collective_start", units::microseconds, &Runtime::collectiveStartUs,
     false, 0},
    {"request_time", units::microseconds, &Runtime::requestTimeUs},
    {"request_time_per_token", units::microseconds,
     &Runtime::requestTimePerTokenUs},
    {"request_time_per_stream", units::microseconds,
     &Runtime::requestTimePerStreamUs},
    {"stream_interval", units::count, &Runtime::streamInterval, true},
    {"receive_interval", units::count, &Runtime::receiveInterval, true},
    {"vocabulary_multiple", units::count, &Runtime::vocabularyMultiple, true},
};

static std::vector<std::string_view> figureKeys() {
  std::vector<std::string_view> keys;
  for (const FigureField &field : figureFields)
    keys.push_back(field.key);
  return keys;
}

void autopar::runtime::checkWhole(const JsonReader &reader, const char *key,
                                  const Figure &figure) {
  if (!reader.failed() && std::floor(figure.value) != figure.value)
    reader.object(key).failAt("value", "expected a whole number, found " +
                                           formatNumber(figure.value));
}

static Figure readField(const JsonReader &reader, const FigureField &field,
                        const std::string &path) {
  if (field.absent && !reader.has(field.key)) {
    Figure none;
    none.value = *field.absent;
    none.path = path + "." + field.key;
    none.source = {"derived", "the runtime's file does not give it"};
    return none;
  }
  Figure figure = readFigure(reader, field.key, field.unit, path);
  if (field.isWhole)
    checkWhole(reader, field.key, figure);
  return figure;
}

//===----------------------------------------------------------------------===//
// Versions, chips, and changes by a plan
//===----------------------------------------------------------------------===//

/// Returns the numbers of a version: {0, 6, 5} for "0.6.5.dev"; empty if it
/// does not begin with a number.
static std::vector<int64_t> partsOf(std::string_view version) {
  std::vector<int64_t> parts;
  while (!version.empty()) {
    size_t digits = version.find_first_not_of("0123456789");
    std::string_view part = version.substr(0, digits);
    if (part.empty() || part.size() > 9)
      break;
    parts.push_back(std::stoll(std::string(part)));
    if (digits == std::string_view::npos || version[digits] != '.')
      break;
    version.remove_prefix(digits + 1);
  }
  return parts;
}

/// Returns whether the text is a month, which may stand in place of a version:
/// "2026-03".
static bool isMonth(std::string_view text) {
  if (!hasShape(text, "2ddd-dd"))
    return false;
  std::string_view month = text.substr(5);
  return month >= "01" && month <= "12";
}

/// Returns whether the text is a version, which has numbers with dots between
/// them and maybe a suffix: "0.6.5.dev", "1.0rc3".
static bool isNumbered(std::string_view text) {
  size_t end = text.find_first_not_of("0123456789.");
  std::string_view numbers = text.substr(0, end);
  bool areNumbers = !numbers.empty() && numbers.front() != '.' &&
                    numbers.find("..") == std::string_view::npos;
  size_t point = numbers.find('.');
  // A year alone is no version.
  if (!areNumbers || std::min(point, numbers.size()) > 3)
    return false;
  if (end == std::string_view::npos)
    return numbers.back() != '.';
  constexpr std::string_view plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.+_-";
  bool isLetter = plain.find(text[end]) < 52;
  return (isLetter || text[end] == '+') &&
         text.find_first_not_of(plain, end) == std::string_view::npos;
}

bool autopar::runtime::isRuntimeVersion(std::string_view text) {
  return isMonth(text) || isNumbered(text);
}

bool RuntimeVariant::isOfAll() const {
  return chips.empty() && platforms.empty() && models.empty() &&
         memoryFrom == 0 && memoryBelow == 0 && linkBelow == 0;
}

static bool has(const std::vector<std::string> &names,
                const std::string &name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool RuntimeVariant::isFor(const Pool &pool,
                           const std::string &modelType) const {
  const Chip &chip = pool.chip;
  if (!models.empty() && !has(models, modelType))
    return false;
  if (!platforms.empty() && !has(platforms, chip.platform))
    return false;
  if (linkBelow > 0 &&
      (pool.tiers.empty() || pool.tiers.front().bandwidth.value >= linkBelow))
    return false;
  if (!chips.empty())
    return has(chips, chip.name);
  double memory = chip.memoryUsable.value;
  return memory >= memoryFrom && (memoryBelow == 0 || memory < memoryBelow);
}

/// Returns whether the figure is used only after the machine is known, so that
/// it may vary by chip.
static bool mayVary(const FigureField &field) {
  return field.figure != &Runtime::vocabularyMultiple;
}

static void readCondition(const JsonReader &reader, RuntimeVariant &variant) {
  constexpr double most = units::memory.max;
  variant.memoryFrom =
      reader.optionalNumber("memory_from", 0, most).value_or(0);
  variant.memoryBelow =
      reader.optionalNumber("memory_below", 1, most).value_or(0);
  if (variant.memoryBelow > 0 && variant.memoryFrom >= variant.memoryBelow)
    reader.failAt("memory_from", "expected less than memory_below");
  variant.linkBelow =
      reader
          .optionalNumber("link_below", units::bytesPerSecond.min,
                          units::bytesPerSecond.max)
          .value_or(0);
  if (reader.has("platforms"))
    variant.platforms = reader.strings("platforms");
  for (const std::string &platform : variant.platforms)
    if (!isPlatform(platform))
      reader.failAt("platforms", "expected " + join(platforms(), ", ") +
                                     ", found \"" + shorten(platform) + "\"");
  if (reader.has("models"))
    variant.models = reader.strings("models");
  if (!reader.has("chips"))
    return;
  variant.chips = reader.strings("chips");
  if (variant.chips.empty())
    reader.failAt("chips", "expected the name of a chip");
  if (variant.memoryFrom > 0 || variant.memoryBelow > 0)
    reader.failAt("chips", "expected chips or their memory, found both");
}

static RuntimeVariant readVariant(const JsonReader &reader,
                                  const std::string &path) {
  RuntimeVariant variant;
  reader.allowOnly({"before", "released", "memory_from", "memory_below",
                    "link_below", "platforms", "chips", "models", "figures"});
  readCondition(reader, variant);
  JsonReader figures = reader.object("figures");
  if (reader.failed())
    return variant;
  figures.allowOnly(figureKeys());
  for (const FigureField &field : figureFields) {
    if (reader.failed() || !figures.has(field.key))
      continue;
    if (!mayVary(field))
      figures.failAt(field.key, "is the same in all versions and on all chips");
    variant.figures.emplace_back(field.figure, readField(figures, field, path));
  }
  return variant;
}

static void apply(const RuntimeVariant &variant, Runtime &runtime) {
  for (const auto &[member, figure] : variant.figures)
    if (!(runtime.*member).isGiven())
      runtime.*member = figure;
}

void Runtime::adaptTo(const Pool &pool, const std::string &modelType,
                      const LaunchChoices &launch) {
  for (const RuntimeVariant &variant : variants)
    if (variant.isFor(pool, modelType))
      apply(variant, *this);
  if (launch.maxSequences)
    setMaxSequences(*launch.maxSequences);
  countGraphs();
  if (launch.eager)
    captureNoGraphs();
}

/// Sets a figure by a choice of the user, unless the user set the figure
/// itself.
static void replace(Figure &figure, double value, const Source &source) {
  if (figure.isGiven() || figure.value == value)
    return;
  figure.value = value;
  figure.source = source;
}

/// Sets the largest number of sequences in a batch. If the profiling run
/// samples this number by default, it samples the new number too.
void Runtime::setMaxSequences(int64_t sequences) {
  const Source given{"user", "max_num_seqs of the plan"};
  auto most = static_cast<double>(sequences);
  bool samplesAll = profileSequences.value == maxSequences.value;
  replace(profileSequences,
          samplesAll ? most : std::min(profileSequences.value, most), given);
  replace(maxSequences, most, given);
  replace(graphSequences, std::min(graphSequences.value, most), given);
}

/// Counts the captured graphs, up to the largest size and to the limit of
/// sequences.
void Runtime::countGraphs() {
  if (captureSizes.empty() || graphs.value == 0)
    return;
  auto upTo = [&](double size) {
    return static_cast<double>(
        std::upper_bound(captureSizes.begin(), captureSizes.end(),
                         std::min(size, largestGraph.value)) -
        captureSizes.begin());
  };
  const Source &source = maxSequences.source.kind == "user"
                             ? maxSequences.source
                             : largestGraph.source;
  replace(wholeGraphs, upTo(maxSequences.value), source);
  double pieces = upTo(graphTokensPerSequence.value * maxSequences.value);
  replace(graphs, wholeGraphs.value + (capturesPieces ? pieces : 0), source);
}

void Runtime::captureNoGraphs() {
  for (Figure *figure : {&graphBytes, &graphBytesEach, &graphs, &wholeGraphs,
                         &graphBytesPerRecurrentGraph, &graphSequences})
    replace(*figure, 0, {"user", "enforce_eager of the plan"});
  replace(hostTimeUs, hostTimeUs.value + eagerStepUs.value, eagerStepUs.source);
  // Without graphs, steps with prompts are no longer slower than other steps by
  // this difference.
  replace(promptStepUs, std::max(0.0, promptStepUs.value - eagerStepUs.value),
          eagerStepUs.source);
}

bool Runtime::keepsCacheInFp8(bool isQuantized, const Chip &chip) const {
  switch (kvCacheRule) {
  case KVCacheRule::model:
    return false;
  case KVCacheRule::fp8_if_quantized:
    return isQuantized;
  case KVCacheRule::fp8_if_quantized_on_fp4_chips:
    return isQuantized && chip.peakFlops.count("fp4");
  }
  return false;
}

void Runtime::setTokenBudget(double tokens) {
  if (!tokenBudget.isGiven())
    tokenBudget.value = tokens;
  if (!profileTokens.isGiven() && profileTokens.value > 0)
    profileTokens.value = tokens;
}

std::string Runtime::label() const {
  return version.empty() || !hasVersions ? name : name + "@" + version;
}

/// Returns whether `version` is earlier than the variant's version, or is a
/// month before this version was released.
static bool isBefore(const JsonReader &variant, const std::string &version) {
  std::string before = variant.string("before");
  std::string released = variant.string("released");
  if (variant.failed())
    return false;
  if (!isRuntimeVersion(before))
    variant.failAt("before", "expected a version such as 0.19, found \"" +
                                 shorten(before) + "\"");
  if (!isMonth(released))
    variant.failAt("released", "expected a month such as 2026-03, found \"" +
                                   shorten(released) + "\"");
  if (version.empty())
    return false;
  return isMonth(version) ? version < released
                          : partsOf(version) < partsOf(before);
}

/// Reads variants. Those for any chip apply at once, and again, in order,
/// together with those of the chip.
static void readVariants(const JsonReader &reader, const std::string &path,
                         Runtime &runtime) {
  if (!reader.has("variants"))
    return;
  for (const JsonReader &element : reader.array("variants").elements()) {
    RuntimeVariant variant = readVariant(element, path);
    bool isOfVersions = element.has("before") || element.has("released");
    runtime.hasVersions |= isOfVersions;
    if (isOfVersions && !isBefore(element, runtime.version))
      continue;
    if (reader.failed())
      return;
    if (variant.isOfAll())
      apply(variant, runtime);
    runtime.variants.push_back(std::move(variant));
  }
}

//===----------------------------------------------------------------------===//
// Reading runtimes
//===----------------------------------------------------------------------===//

static constexpr std::pair<const char *, BudgetRule> budgetRules[] = {
    {"fraction_of_total", BudgetRule::fraction_of_total},
    {"fraction_of_free", BudgetRule::fraction_of_free},
    {"reserve", BudgetRule::reserve}};
static constexpr std::pair<const char *, bool> prefillRules[] = {
    {"fused", true}, {"alternating", false}};
static constexpr std::pair<const char *, KVCacheRule> kvCacheRules[] = {
    {"model", KVCacheRule::model},
    {"fp8_if_quantized", KVCacheRule::fp8_if_quantized},
    {"fp8_if_quantized_on_fp4_chips",
     KVCacheRule::fp8_if_quantized_on_fp4_chips}};

static void allowFields(const JsonReader &reader) {
  std::vector<std::string_view> known = figureKeys();
  known.insert(known.end(),
               {"schema", "name", "title", "budget_rule", "prefill", "kv_cache",
                "collectives", "merges_shared_input", "fuses_elementwise",
                "cuts_prompts", "reserves_answers", "ideal", "training",
                "capture_sizes", "captures_pieces", "cache_rows", "variants"});
  reader.allowOnly(known);
}

/// Reads the sizes of captured graphs. They must increase, so that counts can
/// be found by bisection.
static void readCaptures(const JsonReader &reader, Runtime &runtime) {
  runtime.capturesPieces = reader.booleanOr("captures_pieces", false);
  if (!reader.has("capture_sizes"))
    return;
  for (const JsonReader &size : reader.array("capture_sizes").elements()) {
    runtime.captureSizes.push_back(size.asInteger(1, limits::maxTokens));
    size_t count = runtime.captureSizes.size();
    if (count > 1 &&
        runtime.captureSizes[count - 1] <= runtime.captureSizes[count - 2])
      reader.failAt("capture_sizes", "expected increasing numbers");
  }
}

static Runtime readFields(const JsonReader &reader,
                          const std::string &version) {
  Runtime runtime;
  allowFields(reader);
  checkSchema(reader, "autopar.runtime/1");
  runtime.name = readName(reader);
  runtime.version = version;
  runtime.title = reader.string("title");
  std::string path = "runtimes." + runtime.name;
  for (const FigureField &field : figureFields)
    runtime.*field.figure = readField(reader, field, path);
  runtime.budgetRule = readChoice(reader, "budget_rule", budgetRules);
  runtime.fusesPrompts = readChoice(reader, "prefill", prefillRules);
  runtime.kvCacheRule = readChoice(reader, "kv_cache", kvCacheRules);
  runtime.collectives = reader.string("collectives");
  runtime.mergesSharedInput = reader.boolean("merges_shared_input");
  runtime.fusesElementwise = reader.boolean("fuses_elementwise");
  runtime.cutsPrompts = reader.boolean("cuts_prompts");
  runtime.reservesAnswers = reader.boolean("reserves_answers");
  runtime.ideal = reader.boolean("ideal");
  readCaptures(reader, runtime);
  readCacheRows(reader, runtime);
  if (reader.has("training"))
    runtime.training =
        readTrainingFields(reader.object("training"), path + ".training");
  readVariants(reader, path, runtime);
  return runtime;
}

/// Splits "vllm@0.19" into name and version. A path may contain an `@` of its
/// own.
static std::pair<std::string, std::string>
splitVersion(const std::string &nameOrPath) {
  size_t at = nameOrPath.rfind('@');
  if (at == std::string::npos || nameOrPath.find('/', at) != std::string::npos)
    return {nameOrPath, ""};
  std::string version = nameOrPath.substr(at + 1);
  if (isPath(nameOrPath.substr(0, at)) && !isRuntimeVersion(version))
    return {nameOrPath, ""};
  return {nameOrPath.substr(0, at), version};
}

Result<Runtime>
autopar::runtime::readRuntime(const std::string &given,
                              const std::vector<Override> &overrides,
                              std::vector<bool> &usedOverrides) {
  auto [nameOrPath, version] = splitVersion(given);
  if (nameOrPath.size() < given.size() && !isRuntimeVersion(version))
    return Error{"",
                 "expected a version behind \"@\" in the runtime \"" +
                     shorten(given) + "\"",
                 "such as " + nameOrPath + "@0.19, or a month: " + nameOrPath +
                     "@2026-03"};
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
  Runtime runtime = readFields(reader, version);
  if (reader.failed())
    return explainOverrides(reader.takeError(), prefix, overrides);
  return runtime;
}

std::optional<Error>
autopar::runtime::unusedRuntimeOverride(const std::vector<Override> &overrides,
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
                 near.empty() || near == owner ? "known: " + join(known, ", ")
                                               : askWhether(near)};
  }
  return std::nullopt;
}
