//===- WhyCommand.cpp - autopar why ---------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Commands.h"
#include "Errors.h"
#include "LaunchCommands.h"

#include "autopar/Launch/Log.h"
#include "autopar/Pipelines/FlagValues.h"
#include "autopar/Session/Session.h"
#include "autopar/Support/File.h"
#include "autopar/Support/TextStyle.h"
#include "autopar/Write/Json.h"

#include <nlohmann/json.hpp>

using namespace autopar;
using namespace autopar::launch;
using namespace autopar::pipelines;
using namespace autopar::session;

namespace {
struct WhyOptions : PlanArguments {
  std::string log, version, output = "-";
  ModelArgument model;
  bool json = false;
};
} // namespace

static std::vector<std::string> &valueOf(WhyOptions &options,
                                         const char *flag) {
  return valuesOf(options.flags, options.values, flag);
}

/// A step's time and throughput are those of one batch and context: without
/// these they are not compared.
static void leaveOutSteps(LogReading &reading) {
  for (LogNumber &number : reading.numbers)
    for (const std::string &pointer : number.pointers)
      if (pointer.rfind("/latency/", 0) == 0 ||
          pointer.rfind("/throughput/", 0) == 0) {
        number.pointers.clear();
        reading.findings.push_back(
            number.name + ": --batch and --context of the step are needed for "
                          "a prediction");
        break;
      }
}

/// Estimates the launch of the log, or that of the flags.
static Result<report::Report> estimate(WhyOptions &options,
                                       const LogReading &reading) {
  if (reading.launch)
    if (std::optional<Error> error =
            takeLaunch(*reading.launch, options.model, options))
      return *error;
  if (options.model.name.empty())
    return Error{"", "the log names no model", "--model=NAME says which it is"};
  if (valueOf(options, "phase").empty())
    valueOf(options, "phase") = {"decode"};
  Result<PlanRequest> request = readFlags(options.values);
  if (!request)
    return request.error();
  Result<importer::ModelRequest> model =
      requestOf(options.model, options.model.name);
  if (!model)
    return model.error();
  model->hub.offline = true;
  Session session;
  return session.estimate(*model, *request);
}

static int runWhy(WhyOptions &options) {
  Result<std::string> text = readFile(options.log);
  if (!text)
    return printError(text.error());
  Result<std::vector<LaunchTable>> tables = loadLaunchTables();
  if (!tables)
    return printError(tables.error());
  ReadOptions read;
  read.version = options.version;
  read.findModel = findModel;
  Result<LogReading> reading = readLog(
      *tables, *text, options.log == "-" ? "<stdin>" : options.log, read);
  if (!reading)
    return printError(reading.error());
  if (valueOf(options, "batch").empty() || valueOf(options, "context").empty())
    leaveOutSteps(*reading);
  Result<report::Report> report = estimate(options, *reading);
  if (report) {
    Result<std::string> json = writing::writeJson(*report);
    if (!json)
      return printError(json.error());
    predict(*reading, nlohmann::json::parse(*json));
  } else {
    reading->findings.push_back("no prediction: " + report.error().str());
  }
  TextStyleScope style(options.output == "-" ? outputStyle() : TextStyle());
  Result<bool> written = writeOutput(
      options.output, options.json ? writeWhy(*reading) : whyText(*reading));
  return written ? 0 : printError(written.error());
}

void autopar::addWhy(CLI::App &app, std::vector<Command> &commands) {
  auto options = std::make_shared<WhyOptions>();
  CLI::App *command = app.add_subcommand(
      "why", "Put predictions beside the numbers of an engine's log");
  command
      ->add_option("log", options->log,
                   "A log of vLLM, SGLang, TensorRT-LLM or a trainer; '-' for "
                   "standard input")
      ->required();
  addPlanFlags(command, *options, [&](const std::string &name) {
    return name == "phase" || name == "batch" || name == "context" ||
           isOfPlans(options->flags, name);
  });
  command
      ->add_option("--model", options->model.name,
                   "The model, where the log does not name one that is known "
                   "here")
      ->type_name("model");
  command
      ->add_option("--engine-version", options->version,
                   "Version of the engine, where the log states none")
      ->type_name("version");
  command->add_flag("--json", options->json, "Print autopar.why/1");
  command->add_option("-o,--output", options->output, "File to write")
      ->type_name("file");
  command->footer("  autopar why server.log --hardware=h100-sxm-8\n"
                  "  autopar why server.log --model=llama-3.3-70b "
                  "--batch=64 --context=2048\n");
  commands.push_back({command, [=] { return runWhy(*options); }});
}
