//===- CalibrateCommand.cpp - autopar calibrate ---------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Commands.h"
#include "Errors.h"

#include "autopar/Session/Calibrate.h"
#include "autopar/Support/File.h"

using namespace autopar;
using namespace autopar::session;

namespace {
struct CalibrateOptions : CalibrateRequest {
  std::vector<std::string> facts;
  std::string model, hardware, runtime, output;
  bool json = false;
};
} // namespace

/// Collects the facts that flags state. Returns an error for a fact that is not
/// name=value.
static std::optional<Error> stateFacts(CalibrateOptions &options) {
  for (const auto &[fact, value] : {std::pair("model", &options.model),
                                    std::pair("hardware", &options.hardware),
                                    std::pair("engine", &options.runtime)})
    if (!value->empty())
      options.stated[fact] = *value;
  for (const std::string &fact : options.facts) {
    size_t equals = fact.find('=');
    if (equals == 0 || equals == std::string::npos)
      return Error{"", "--fact=" + fact + ": expected name=value",
                   "for example --fact=tp=8"};
    options.stated[fact.substr(0, equals)] = fact.substr(equals + 1);
  }
  return std::nullopt;
}

static int runCalibrate(CalibrateOptions &options) {
  if (std::optional<Error> error = stateFacts(options))
    return printError(*error);
  Result<Calibration> made = calibrate(options);
  if (!made)
    return printError(made.error());
  std::string json = calibrationJson(*made);
  if (!options.output.empty())
    if (Result<bool> written = writeOutput(options.output, json); !written)
      return printError(written.error());
  if (options.output != "-")
    std::fputs((options.json ? json : calibrationText(*made)).c_str(), stdout);
  return 0;
}

void autopar::addCalibrate(CLI::App &app, std::vector<Command> &commands) {
  auto options = std::make_shared<CalibrateOptions>();
  CLI::App *command = app.add_subcommand(
      "calibrate", "Fit figures of a machine and a runtime to measurements");
  command
      ->add_option("files", options->files,
                   "Results of benchmarks, or tables of `autopar validate`")
      ->type_name("FILE")
      ->required();
  command
      ->add_option("--model", options->model,
                   "The model, where files do not name one that is known")
      ->type_name("model");
  command->add_option("--hardware", options->hardware, "The machine")
      ->type_name("name");
  command->add_option("--runtime", options->runtime, "The runtime")
      ->type_name("name");
  command
      ->add_option("--fact", options->facts,
                   "Another fact that files lack: tp=8, concurrency=64, "
                   "input_tokens=1024 (repeatable)")
      ->type_name("name=value");
  command->add_option("--configs", options->configs,
                      "Folder of models that are not bundled: org--name each");
  command->add_option("--set", options->overrides,
                      "Replace a figure before the fit (repeatable)");
  command
      ->add_option("-o,--output", options->output,
                   "File for the calibration, which --calibration takes")
      ->type_name("file");
  command->add_flag("--json", options->json, "Print autopar.calibration/1");
  command->footer(
      "Reads results of vllm bench, sglang.bench_serving, aiperf, guidellm,\n"
      "trtllm-bench, nccl-tests and nvbandwidth, JSON or printed, and tables\n"
      "with columns such as tpot_ms. runtimes/measurements has the forms.\n\n"
      "  autopar calibrate bench.json --hardware=h100-sxm-8 --fact=tp=8 "
      "-o mine.json\n"
      "  autopar estimate llama-3.3-70b --shard-tp=8 "
      "--calibration=mine.json\n");
  commands.push_back({command, [=] { return runCalibrate(*options); }});
}
