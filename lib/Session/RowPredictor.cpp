//===- RowPredictor.cpp ---------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RowPredictor.h"

#include "autopar/Hub/Hub.h"
#include "autopar/Support/File.h"
#include "autopar/Support/Suggestion.h"
#include "autopar/Support/Text.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <cstring>

using namespace autopar;
using namespace autopar::hardware;
using namespace autopar::hub;
using namespace autopar::model;
using namespace autopar::placement;
using namespace autopar::plan;
using namespace autopar::program;
using namespace autopar::runtime;
using namespace autopar::schedule;
using namespace autopar::serving;
using namespace autopar::session;
using namespace autopar::validation;

/// Returns the folders `org--name` in `directory`.
static Result<std::vector<std::string>>
foldersIn(const std::string &directory) {
  std::vector<std::string> folders;
  if (directory.empty())
    return folders;
  std::error_code error;
  llvm::sys::fs::directory_iterator it(directory, error), end;
  for (; !error && it != end; it.increment(error)) {
    llvm::StringRef name = llvm::sys::path::filename(it->path());
    if (name.contains("--"))
      folders.push_back(name.str());
  }
  if (error)
    return Error{directory, error.message(),
                 "--configs takes a folder of folders org--name"};
  std::sort(folders.begin(), folders.end());
  return folders;
}

Result<SystemNames> session::readSystemNames() {
  Result<NameRules> rules =
      readNameRules(dataDirectory("hardware") + "/names.json");
  if (!rules)
    return rules.error();
  return SystemNames(std::move(*rules), HardwareLibrary().systemNames());
}

Result<std::unique_ptr<RowPredictor>>
RowPredictor::create(const std::string &configs,
                     std::vector<Override> overrides) {
  Result<std::vector<std::string>> folders = foldersIn(configs);
  if (!folders)
    return folders.error();
  Result<NameRules> models =
      readNameRules(dataDirectory("models") + "/names.json");
  if (!models)
    return models.error();
  Result<SystemNames> systems = readSystemNames();
  if (!systems)
    return systems.error();
  Result<std::vector<Recipe>> recipes =
      readRecipes(dataDirectory("runtimes") + "/recipes/nemo.json");
  if (!recipes)
    return recipes.error();
  return std::unique_ptr<RowPredictor>(new RowPredictor(
      configs, std::move(overrides),
      ModelNames(std::move(*models), bundledModels(), *folders),
      std::move(*systems), std::move(*recipes)));
}

//===----------------------------------------------------------------------===//
// Resolving the names in rows
//===----------------------------------------------------------------------===//

/// The class of a format in tables and names of models: "bf16", "fp8", "fp4" or
/// "int4".
static std::string classOf(const std::string &text) {
  std::string format = llvm::StringRef(text).lower();
  auto says = [&](const char *word) {
    return format.find(word) != std::string::npos;
  };
  return says("fp4")                                 ? "fp4"
         : says("fp8")                               ? "fp8"
         : says("int4") || says("w4a16")             ? "int4"
         : says("16") && !says("int") && !says("w4") ? "bf16"
                                                     : "";
}

/// Chooses the weight format: that of the checkpoint if the row states it, else
/// the one that engines make or that is published.
Result<std::string> RowPredictor::weightFormatOf(const ServingRow &row,
                                                 const ResolvedName &model,
                                                 const std::string &argument) {
  std::string stated = classOf(row.precision);
  if (stated.empty() && !row.precision.empty())
    return Error{
        "", "weights in \"" + shorten(row.precision) + "\" are not modelled",
        "formats: bf16, fp8, fp4, int4"};
  for (const std::string &other : {row.denseFormat, model.format})
    if (stated.empty())
      stated = classOf(other);
  Result<std::string> own = predictor.checkpointFormat(argument);
  if (!own)
    return own.error();
  bool isBlock = row.denseFormat == "fp8_block";
  if (stated.empty() || stated == *own)
    return std::string();
  if (stated == "fp4")
    return std::string("nvfp4");
  if (stated == "int4")
    return std::string("awq-4");
  return stated == "fp8" && isBlock ? "fp8_block" : stated;
}

/// Returns an error as one line, because many rows may share it.
static std::string textOf(const Error &error) {
  std::string text = error.where.empty() ? "" : error.where + ": ";
  text += error.message;
  return error.note.empty() ? text : text + " (" + error.note + ")";
}

static Error unmatched(const ResolvedName &name) {
  return {"", name.why,
          name.suggestion.empty() ? "" : askWhether(name.suggestion)};
}

static void setDegrees(const ServedDegrees &degrees, ServedPlan &plan) {
  plan.tp = degrees.tp;
  plan.dp = degrees.attentionDp;
  plan.ep = degrees.ep;
  plan.etp = degrees.expertTp;
}

/// Returns the version of the runtime. If a row states none, or only that of a
/// container of NVIDIA Dynamo, it is the version of the month in which the row
/// was measured.
static std::string versionOf(const ServingRow &row) {
  std::string version;
  if (row.source.find("ai-dynamo/") == std::string::npos)
    version = resolveRuntime(row.runtime + " " + row.runtimeVersion).version;
  auto measured = row.sourceFields.find("measured");
  if (!isRuntimeVersion(version) && measured != row.sourceFields.end())
    version = measured->second.substr(0, std::strlen("2026-03"));
  return isRuntimeVersion(version) ? version : "";
}

Result<RowPredictor::Match> RowPredictor::match(const ServingRow &row) {
  ResolvedName model = models.find(row.model);
  if (!model)
    return unmatched(model);
  ResolvedName system = systems.find(row.system);
  if (!system)
    return unmatched(system);
  RuntimeName runtime = resolveRuntime(row.runtime);
  if (runtime.name.empty())
    return Error{"", "no runtime is called \"" + shorten(row.runtime) + "\"",
                 ""};
  Match match;
  match.model = model.name;
  ServedPlan &plan = match.plan;
  plan.model = model.isFolder ? configs + "/" + model.name : model.name;
  plan.system = system.name;
  plan.runtime = runtime.name;
  std::string version = versionOf(row);
  if (!version.empty())
    plan.runtime += "@" + version;
  Result<std::string> format = weightFormatOf(row, model, plan.model);
  if (!format)
    return format.error();
  plan.weightFormat = *format;
  std::string kv = classOf(row.kvFormat);
  if (kv == "fp8")
    plan.kvFormat = ElementType::fp8_e4m3;
  else if (kv == "bf16")
    plan.kvFormat = ElementType::bf16;
  else if (!row.kvFormat.empty() && row.kvFormat != "auto")
    return Error{
        "", "KV caches in \"" + shorten(row.kvFormat) + "\" are not modelled",
        "formats: bf16, fp8, auto"};
  const ServedDegrees &degrees = row.decode ? row.decode->degrees : row.degrees;
  setDegrees(degrees, plan);
  if (row.decode && row.decode->workers < 1)
    return Error{"", "how many workers decode is not stated", ""};
  if (degrees.pp > 1)
    return Error{"", "serving with pipeline stages is not modelled yet", ""};
  return match;
}

//===----------------------------------------------------------------------===//
// Predicting rows
//===----------------------------------------------------------------------===//

/// Returns the load of a row. A request has at least one token of a prompt and
/// one of an answer.
static ServedLoad loadOf(const ServingRow &row, int64_t concurrency,
                         double share) {
  return {concurrency, std::max(1.0, share * double(row.inputTokens)),
          std::max(1.0, share * double(row.outputTokens))};
}

/// Returns the mean length of requests divided by the nominal one. Closed loops
/// draw prompts and answers uniformly from 0.8 to 1 of the nominal lengths,
/// except in sources that say otherwise.
static double meanLength(const ServingRow &row) {
  bool isStated = row.areLengthsMeans ||
                  row.source.find("aic-auto-gap") != std::string::npos;
  return isStated ? 1 : 0.9;
}

static RowCapacity capacityOf(const ServedFacts &facts) {
  RowCapacity capacity;
  capacity.kvTokens = facts.kvTokens;
  capacity.decodeFlops = facts.decodeFlops;
  capacity.promptFlops = facts.promptFlops;
  capacity.peakFlops = facts.peakFlops;
  capacity.devicesPerNode = facts.devicesPerNode;
  capacity.hasPredictionHead = facts.hasPredictionHead;
  return capacity;
}

std::optional<RowCapacity> RowPredictor::capacityOf(const ServingRow &row) {
  Result<Match> matched = match(row);
  if (!matched)
    return std::nullopt;
  double share = meanLength(row);
  Result<ServedFacts> facts =
      predictor.facts(matched->plan, share * double(row.inputTokens),
                      share * double(row.outputTokens));
  if (!facts)
    return std::nullopt;
  return ::capacityOf(*facts);
}

/// Predicts a row; if the default share of memory leaves no room for caches, it
/// predicts with a larger share. The measured service had room, so that its
/// share had been raised, at most to the share that the device context leaves.
template <typename Predict>
static auto predictWithRoom(ServedPlan &plan, Predict predict) {
  constexpr double most = 0.97;
  auto result = predict(plan);
  if (result || plan.memoryUtilization)
    return result;
  plan.memoryUtilization = most;
  auto raised = predict(plan);
  return raised ? std::move(raised) : std::move(result);
}

/// Predicts a service in which separate workers, with a plan of their own, run
/// the prefills.
Result<SteadyState> RowPredictor::predictPools(const ServingRow &row,
                                               const ServedPlan &decode,
                                               double share) {
  ServedPlan prefill = decode;
  setDegrees(row.prefill->degrees, prefill);
  Result<DisaggregatedState> served = predictor.predict(
      prefill, decode, {row.prefill->workers, row.decode->workers},
      loadOf(row, row.concurrency, share));
  if (!served)
    return served.error();
  return served->state;
}

/// Returns whether the row comes from a source whose launches the rule knows.
static bool knowsLaunch(const Rule &rule, const ServingRow &row,
                        const std::string &runtime) {
  if (!rule.enabled || runtime != rule.text("runtime") ||
      row.sourceFields.count(rule.text("source_field")) == 0)
    return false;
  llvm::SmallVector<llvm::StringRef> systems;
  llvm::StringRef(rule.text("systems")).split(systems, ' ');
  return llvm::any_of(systems, [&](llvm::StringRef system) {
    return llvm::StringRef(row.system).starts_with(system);
  });
}

/// Sets those flags of the launch that rows do not state.
static void setLaunch(const ServingRow &row, const std::string &runtime,
                      const RuleSet &rules, ServedPlan &plan) {
  const Rule &streams = rules.get("streams-in-tens"),
             &looks = rules.get("looks-in-tens");
  if (knowsLaunch(streams, row, runtime))
    plan.streamInterval = static_cast<int64_t>(streams.number("tokens"));
  bool isMany = double(row.concurrency) >= looks.number("many");
  if (knowsLaunch(looks, row, runtime))
    plan.receiveInterval =
        static_cast<int64_t>(looks.number(isMany ? "steps_of_many" : "steps"));
}

void RowPredictor::predict(PredictedRow &predicted, const RuleSet &rules) {
  const ServingRow &row = predicted.row;
  Result<Match> matched = match(row);
  if (!matched) {
    predicted.notPredicted = textOf(matched.error());
    return;
  }
  ServedPlan &plan = matched->plan;
  predicted.model = matched->model;
  predicted.system = plan.system;
  predicted.runtime = resolveRuntime(row.runtime).name;
  setLaunch(row, predicted.runtime, rules, plan);
  if (!plan.weightFormat.empty())
    predicted.format = classOf(plan.weightFormat);
  else if (Result<std::string> own = predictor.checkpointFormat(plan.model))
    predicted.format = classOf(*own);
  double share = meanLength(row);
  int64_t concurrency = row.concurrency;
  if (row.decode)
    concurrency = std::max<int64_t>(1, concurrency / row.decode->workers);
  ServedLoad load = loadOf(row, concurrency, share);
  const Rule &ttft = rules.get("ttft");
  if (ttft.enabled)
    load.rounds = row.rounds ? double(*row.rounds) : ttft.number("rounds");
  if (Result<ServedFacts> facts =
          predictor.facts(plan, load.promptTokens, load.answerTokens)) {
    predicted.isMoe = facts->hasExperts;
    predicted.capacity = ::capacityOf(*facts);
  }
  auto serve = [&](const ServedPlan &plan) -> Result<SteadyState> {
    if (row.decode && row.prefill->workers > 0)
      return predictPools(row, plan, share);
    return predictor.predict(plan, load);
  };
  Result<SteadyState> state = predictWithRoom(plan, serve);
  if (!state) {
    predicted.notPredicted = textOf(state.error());
    return;
  }
  ServingPrediction &prediction = predicted.prediction.emplace();
  // Workers that only decode never wait for prompts.
  double tpotUs = row.decode ? state->decodeStepUs : state->tpotUs;
  prediction.tpotMs = tpotUs / 1e3;
  prediction.ttftMs = state->ttftUs / 1e3;
  prediction.outputTokensPerSecond = state->outputTokensPerSecond;
  prediction.saturated = state->isCacheFull;
  prediction.running = state->running;
  prediction.termsMs = {
      {"decode_step",
       (state->decodeStepUs - state->communicationUs - state->hostUs) / 1e3},
      {"communication", state->communicationUs / 1e3},
      {"host", state->hostUs / 1e3},
      {"prompts", (tpotUs - state->decodeStepUs) / 1e3}};
}

void RowPredictor::predict(ThroughputRow &throughput) {
  const ServingRow &row = throughput.row;
  Result<Match> matched = match(row);
  if (!matched) {
    throughput.notPredicted = textOf(matched.error());
    return;
  }
  ServedLoad load{throughput.batch, double(row.inputTokens),
                  double(row.outputTokens)};
  if (throughput.kind == ThroughputKind::static_batch) {
    Result<double> rate =
        predictWithRoom(matched->plan, [&](const ServedPlan &plan) {
          return predictor.predictBatch(plan, load);
        });
    if (rate)
      throughput.predicted = *rate;
    else
      throughput.notPredicted = textOf(rate.error());
    return;
  }
  // The number of requests is larger than any cache can hold.
  load.concurrency = int64_t(1) << 30;
  Result<SteadyState> state =
      predictWithRoom(matched->plan, [&](const ServedPlan &plan) {
        return predictor.predict(plan, load);
      });
  if (state)
    throughput.predicted = state->outputTokensPerSecond;
  else
    throughput.notPredicted = textOf(state.error());
}

void RowPredictor::predict(MemoryRow &memory) {
  Result<Match> matched = match(memory.row);
  if (!matched) {
    memory.notPredicted = textOf(matched.error());
    return;
  }
  ServedPlan &plan = matched->plan;
  plan.memoryUtilization = memory.memoryUtilization;
  plan.stepTokens = memory.stepTokens;
  constexpr int64_t anyLength = 8192;
  int64_t length = memory.sequenceTokens.value_or(anyLength);
  Result<ServedMemory> bytes = predictor.memory(plan, length);
  if (!bytes) {
    memory.notPredicted = textOf(bytes.error());
    return;
  }
  auto gib = [](int64_t bytes) {
    return static_cast<double>(bytes) / double(1 << 30);
  };
  EngineMemory &predicted = memory.predicted.emplace();
  predicted.weightsGiB = gib(bytes->weightBytes);
  predicted.temporariesGiB = gib(bytes->temporaryBytes);
  predicted.runtimeGiB = gib(bytes->runtimeBytes);
  predicted.kvPoolGiB = gib(bytes->kvPoolBytes);
  predicted.budgetGiB = gib(bytes->budgetBytes);
  predicted.kvTokens = static_cast<double>(bytes->kvTokens * plan.dp);
}

Result<TrainedRun> RowPredictor::runOf(const TrainingRow &row) const {
  ResolvedName system = systems.find(row.system);
  if (!system)
    return unmatched(system);
  Result<TrainedPlan> plan = trainedPlanOf(row, recipes);
  if (!plan)
    return plan.error();
  Result<TrainedSystem> machine = trainedSystemOf(system.name, plan->devices);
  if (!machine)
    return machine.error();
  Result<Model> model = trainedModelOf(row, models, configs, plan->assumed);
  if (!model)
    return model.error();
  return TrainedRun{std::move(*model), machine->name, machine->nodes,
                    std::move(*plan)};
}

void RowPredictor::predict(TrainedRow &trained) {
  Result<TrainedRun> run = runOf(trained.row);
  if (!run) {
    trained.notPredicted = textOf(run.error());
    return;
  }
  Result<TrainingPrediction> predicted = trainingPredictor.predict(*run);
  trained.system = run->system;
  trained.runtime = nameOf(run->plan.runtime);
  trained.assumed = run->plan.assumed;
  if (predicted)
    trained.prediction = *predicted;
  else
    trained.notPredicted = textOf(predicted.error());
}
