//===- LaunchCommand.cpp - autopar launch and autopar read ----------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Checks.h"
#include "Commands.h"
#include "LaunchCommands.h"

#include "autopar/Hardware/Hardware.h"
#include "autopar/Hub/Hub.h"
#include "autopar/Launch/ReadLaunch.h"
#include "autopar/Launch/WriteTargets.h"
#include "autopar/Pipelines/FlagValues.h"
#include "autopar/Plan/PlanKnobs.h"
#include "autopar/Runtime/Runtime.h"
#include "autopar/Session/Session.h"
#include "autopar/Support/File.h"
#include "autopar/Support/JsonText.h"
#include "autopar/Support/Text.h"
#include "autopar/Support/TextStyle.h"

#include <nlohmann/json.hpp>

#include <set>

using namespace autopar;
using namespace autopar::launch;
using namespace autopar::pipelines;
using namespace autopar::session;

static int fail(const Error &error) {
  std::fprintf(stderr, "error: %s\n", error.str().c_str());
  return 1;
}

static int print(const std::string &path, const std::string &text) {
  Result<bool> written = writeOutput(path, text);
  return written ? 0 : fail(written.error());
}

/// Whether a model has experts, and its number of layers.
static Result<ModelFacts> factsOf(Session &session,
                                  const importer::ModelRequest &request) {
  Result<report::ModelReport> model = session.describe(request);
  if (!model)
    return model.error();
  ModelFacts facts;
  facts.hasExperts = bool(session.experts(request));
  return facts;
}

//===----------------------------------------------------------------------===//
// read
//===----------------------------------------------------------------------===//

namespace {
struct ReadCommandOptions {
  std::vector<std::string> paths;
  std::string version, model, output = "-";
  std::optional<bool> hasExperts;
  bool json = false;
};
} // namespace

ModelFacts autopar::findModel(const std::string &name) {
  if (name.empty())
    return {};
  importer::ModelRequest request;
  request.argument = hub::bundledModelOf(name).value_or(name);
  request.hub.offline = true;
  Session session;
  Result<ModelFacts> facts = factsOf(session, request);
  return facts ? *facts : ModelFacts();
}

/// The texts behind the first file, by the last part of their paths.
static Result<std::map<std::string, std::string>>
readOthers(const std::vector<std::string> &paths) {
  std::map<std::string, std::string> files;
  for (size_t i = 1; i < paths.size(); ++i) {
    Result<std::string> text = readFile(paths[i]);
    if (!text)
      return text.error();
    files[paths[i].substr(paths[i].rfind('/') + 1)] = std::move(*text);
  }
  return files;
}

static Result<std::vector<Launch>> readAll(const ReadCommandOptions &options) {
  const std::string &path = options.paths.front();
  Result<std::string> text = readFile(path);
  if (!text)
    return text.error();
  Result<std::map<std::string, std::string>> files = readOthers(options.paths);
  if (!files)
    return files.error();
  ReadOptions reading;
  reading.version = options.version;
  reading.files = std::move(*files);
  reading.findModel = [&](const std::string &name) {
    ModelFacts facts = findModel(options.model.empty() ? name : options.model);
    if (options.hasExperts)
      facts.hasExperts = options.hasExperts;
    return facts;
  };
  Result<std::vector<LaunchTable>> tables = loadLaunchTables();
  if (!tables)
    return tables.error();
  return readLaunches(*tables, *text, path == "-" ? "<stdin>" : path, reading);
}

static int runRead(const ReadCommandOptions &options) {
  Result<std::vector<Launch>> launches = readAll(options);
  if (!launches)
    return fail(launches.error());
  return print(options.output,
               options.json ? writeReading(*launches) : readingText(*launches));
}

/// The runtime that prices a launch, as `--runtime` names it. An engine with a
/// runtime of its own name has that runtime's versions.
static std::string runtimeOf(const Launch &launch, const LaunchTable &table) {
  std::optional<Version> version = parseVersion(launch.version);
  if (!version || table.runtime != table.name)
    return table.runtime;
  std::vector<std::string> numbers;
  for (int64_t number : *version)
    numbers.push_back(std::to_string(number));
  return table.runtime + "@" + join(numbers, ".");
}

std::optional<Error> autopar::takeLaunch(const Launch &launch,
                                         ModelArgument &model,
                                         PlanArguments &arguments) {
  if (model.name.empty())
    model.name = hub::bundledModelOf(launch.model).value_or(launch.model);
  auto set = [&](const char *flag, const std::string &value) {
    std::vector<std::string> &given =
        valuesOf(arguments.flags, arguments.values, flag);
    if (given.empty() && !value.empty())
      given = {value};
  };
  set("plan", plan::writePlan(launch.plan));
  Result<LaunchTable> table = loadLaunchTable(launch.engine);
  if (!table)
    return table.error();
  set("runtime", runtimeOf(launch, *table));
  return std::nullopt;
}

/// The first launch in a file; what a user should know goes to stderr.
static Result<Launch> firstLaunch(const std::string &from,
                                  const std::string &model) {
  ReadCommandOptions options;
  options.paths = {from};
  options.model = model;
  Result<std::vector<Launch>> launches = readAll(options);
  if (!launches)
    return launches.error();
  for (const std::string &finding : launches->front().findings)
    std::fprintf(stderr, "warning: %s\n", finding.c_str());
  return std::move(launches->front());
}

std::optional<Error> autopar::takeLaunch(const std::string &from,
                                         ModelArgument &model,
                                         PlanArguments &arguments) {
  Result<Launch> launch = firstLaunch(from, model.name);
  if (!launch)
    return launch.error();
  return takeLaunch(*launch, model, arguments);
}

std::optional<Error> autopar::takeLaunch(const std::string &from,
                                         SearchArgument &search,
                                         PlanArguments &arguments) {
  Result<Launch> launch = firstLaunch(from, search.model.name);
  if (!launch)
    return launch.error();
  // Choices of all plans are flags; the rest is a plan of the space.
  plan::Plan split;
  split.axes = launch->plan.axes;
  split.degrees = launch->plan.degrees;
  split.sequenceParallel = launch->plan.sequenceParallel;
  split.pipeline = launch->plan.pipeline;
  for (const plan::PlanKnob &knob : plan::planKnobs()) {
    std::optional<std::string> text = plan::textOf(knob, launch->plan);
    if (!knob.flag || !knob.isOfAllPlans || !text)
      continue;
    std::vector<std::string> &given =
        valuesOf(arguments.flags, arguments.values, knob.flag);
    if (given.empty())
      given = {*text};
  }
  launch->plan = split;
  if (search.devices.empty())
    search.devices = std::to_string(launch->copies * launch->devices);
  if (search.why.empty())
    search.why = plan::writePlan(split);
  if (std::optional<Error> error = takeLaunch(*launch, search.model, arguments))
    return error;
  // The space has the plans.
  valuesOf(arguments.flags, arguments.values, "plan").clear();
  return std::nullopt;
}

void autopar::addRead(CLI::App &app, std::vector<Command> &commands) {
  auto options = std::make_shared<ReadCommandOptions>();
  CLI::App *command = app.add_subcommand(
      "read", "Read the plan of an engine's command line, script or manifest");
  command
      ->add_option("file", options->paths,
                   "A command line, a shell script or a manifest, '-' for "
                   "standard input; then config files that it names. Nothing "
                   "in them is run, opened or fetched")
      ->required();
  command
      ->add_option("--version", options->version,
                   "Version of the engine, where the text states none "
                   "(default: the newest one known)")
      ->type_name("version");
  command
      ->add_option("--model", options->model,
                   "The model that is meant, where its name is not known here")
      ->type_name("model");
  command
      ->add_option("--moe", options->hasExperts,
                   "Whether the model has routed experts, where it is not "
                   "known here (default: true)")
      ->type_name("true|false");
  command->add_flag("--json", options->json, "Print autopar.reading/1");
  command->add_option("-o,--output", options->output, "File to write")
      ->type_name("file");
  command->footer("  autopar read serve.sh\n"
                  "  echo 'vllm serve Qwen/Qwen3-8B -tp 2' | autopar read -\n");
  commands.push_back({command, [=] { return runRead(*options); }});
}

//===----------------------------------------------------------------------===//
// launch
//===----------------------------------------------------------------------===//

namespace {
struct LaunchOptions : PlanArguments {
  ModelArgument model;
  std::string engine, version, served, target = "command", output = "-";
  bool json = false;
};
} // namespace

/// Gives choices that the plan leaves open the runtime's values, so that the
/// launch does not depend on an engine's defaults.
static std::optional<Error> closePlan(const std::string &name,
                                      plan::Plan &plan) {
  std::vector<bool> used;
  Result<runtime::Runtime> runtime = runtime::readRuntime(name, {}, used);
  if (!runtime)
    return runtime.error();
  // A share of all memory is an engine's own rule.
  if (!plan.memoryUtilization && runtime->memoryUtilization.value < 1)
    plan.memoryUtilization = runtime->memoryUtilization.value;
  if (!plan.maxSequences && runtime->maxSequences.value > 0)
    plan.maxSequences = int64_t(runtime->maxSequences.value);
  if (!plan.prefillChunk && runtime->tokenBudget.value > 0)
    plan.prefillChunk = int64_t(runtime->tokenBudget.value);
  return std::nullopt;
}

/// Devices of a node of the machine.
static Result<int64_t> devicesPerNode(const std::string &machine) {
  hardware::HardwareLibrary library;
  Result<hardware::Machine> found = library.machine(machine);
  if (!found)
    return found.error();
  return found->pools.front().devicesPerNode;
}

static std::string writeLaunchJson(const WrittenLaunch &written,
                                   const std::vector<LaunchFile> &files) {
  nlohmann::ordered_json json = {{"schema", "autopar.launch/1"},
                                 {"engine", written.launch.engine},
                                 {"version", written.launch.tableVersion},
                                 {"devices", written.launch.devices}};
  json["plan"] =
      nlohmann::ordered_json::parse(plan::writePlan(written.launch.plan));
  json["files"] = nlohmann::ordered_json::array();
  for (const LaunchFile &file : files)
    json["files"].push_back({{"path", file.path}, {"text", file.text}});
  json["differences"] = written.differences;
  return printJson(json);
}

static int writeFiles(const LaunchOptions &options,
                      const WrittenLaunch &written,
                      const std::vector<LaunchFile> &files) {
  if (options.json)
    return print(options.output, writeLaunchJson(written, files));
  for (const std::string &difference : written.differences)
    std::fprintf(stderr, "difference: %s\n", difference.c_str());
  std::string text;
  for (const LaunchFile &file : files)
    text += file.text;
  return print(options.output, text);
}

/// Says where the plan does not fit: the files would start nothing.
static void warnOfMemory(Session &session, const importer::ModelRequest &model,
                         const PlanRequest &request) {
  Result<report::Report> report = session.estimate(model, request);
  if (!report || report->memory.perDevice.fits)
    return;
  const report::Report::DeviceMemory &device = report->memory.perDevice;
  std::fprintf(stderr,
               "warning: the plan does not fit: it needs %s of a budget of %s "
               "per device\n",
               formatBytes(device.totalBytes).c_str(),
               formatBytes(device.budgetBytes).c_str());
}

static int runLaunch(const LaunchOptions &options) {
  Result<PlanRequest> asked = readFlags(options.values);
  if (!asked)
    return asked.error().message.empty() ? 1 : fail(asked.error());
  Result<importer::ModelRequest> model =
      requestOf(options.model, options.model.name);
  if (!model)
    return fail(model.error());
  std::string engine =
      options.engine.empty() ? asked->target.runtimeName() : options.engine;
  Result<LaunchTable> table = loadLaunchTable(engine);
  if (!table)
    return fail(table.error());
  Session session;
  Result<ModelFacts> facts = factsOf(session, *model);
  if (!facts)
    return fail(facts.error());
  LaunchRequest request;
  request.plan = asked->plan;
  request.plan.memoryUtilization = asked->target.memoryUtilization;
  request.plan.prefillChunk = asked->target.prefillChunk;
  request.plan.maxSequences = asked->target.launch.maxSequences;
  request.plan.eager = asked->target.launch.eager;
  request.model = options.served.empty() ? options.model.name : options.served;
  request.facts = *facts;
  request.version = options.version;
  Result<int64_t> devices = devicesPerNode(asked->target.hardwareName());
  if (!devices)
    return fail(devices.error());
  request.devicesPerNode = *devices;
  if (std::optional<Error> error = closePlan(
          table->runtime.empty() ? engine : table->runtime, request.plan))
    return fail(*error);
  Result<WrittenLaunch> written = settle(*table, request);
  if (!written)
    return fail(written.error());
  warnOfMemory(session, *model, *asked);
  TargetRequest target;
  target.devicesPerNode = request.devicesPerNode;
  target.question = "autopar " AUTOPAR_VERSION;
  std::optional<TargetKind> kind = parseTargetKind(options.target);
  if (!kind)
    return fail({"",
                 "--target=" + options.target + ": expected one of " +
                     targetKindNames(),
                 ""});
  target.kind = *kind;
  Result<std::vector<LaunchFile>> files = filesOf(*table, *written, target);
  return files ? writeFiles(options, *written, *files) : fail(files.error());
}

/// Left out are flags of what is computed and of how a report looks.
bool autopar::isOfPlans(const PlanFlags &flags, const std::string &name) {
  static const std::set<std::string> asked = {"phase", "batch",    "context",
                                              "query", "estimate", "brief"};
  static const std::set<std::string> groups = {
      "Most used", "How to split", "Experts",
      "Pipeline",  "Formats",      "Machine and runtime"};
  static const std::set<std::string> limits = {"prefill-chunk",
                                               "max-num-batched-tokens",
                                               "max-num-seqs", "enforce-eager"};
  for (const PlanFlag &flag : flags.all())
    if (flag.name == name)
      return limits.count(name) ||
             (groups.count(flag.group) && !asked.count(name));
  return false;
}

void autopar::addLaunch(CLI::App &app, std::vector<Command> &commands) {
  auto options = std::make_shared<LaunchOptions>();
  CLI::App *command =
      app.add_subcommand("launch", "Write what starts an engine with a plan");
  command->add_option("model", options->model.name, modelHelp)->required();
  addPlanFlags(command, *options, [&](const std::string &name) {
    return isOfPlans(options->flags, name);
  });
  std::string group = command->option_defaults()->get_group();
  command->option_defaults()->group("Launch");
  command
      ->add_option("--engine", options->engine,
                   "The engine to start (default: that of --runtime)")
      ->type_name("name");
  command
      ->add_option("--engine-version", options->version,
                   "Its version (default: the newest one known)")
      ->type_name("version");
  command
      ->add_option("--target", options->target,
                   "What starts it: " + targetKindNames() +
                       " (default: command)")
      ->type_name("name");
  command
      ->add_option("--served-model", options->served,
                   "Name or path of the model for the engine (default: as "
                   "given here)")
      ->type_name("name");
  command->add_flag("--json", options->json, "Print autopar.launch/1");
  command->add_option("-o,--output", options->output, "File to write")
      ->type_name("file");
  command->option_defaults()->group(group);
  addSource(command, options->model);
  command->footer("  autopar launch deepseek-v3 --runtime=sglang --shard-dp=8 "
                  "--shard-ep=8 \\\n      --hardware=h200-sxm-8\n");
  commands.push_back({command, [=] { return runLaunch(*options); }});
}
