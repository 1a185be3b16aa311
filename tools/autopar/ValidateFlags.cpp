//===- ValidateFlags.cpp - The command line of autopar validate -----------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Checks.h"
#include "Commands.h"
#include "autopar/Session/Validate.h"

using namespace autopar;
using namespace autopar::session;

void autopar::addValidate(CLI::App &app, std::vector<Command> &commands) {
  auto options = std::make_shared<ValidateOptions>();
  CLI::App *command = app.add_subcommand(
      "validate", "Compare predictions with measurements: errors by model, "
                  "system, runtime, and the worst rows");
  command->footer(
      "A table is CSV or JSON, one row for each measured point: model_path,\n"
      "system, backend, isl, osl, batch_size (requests at once), tp_size, "
      "...,\n"
      "silicon_ttft_ms, silicon_tpot_ms. --columns gives names of yours.\n"
      "Tables of throughput have model, hardware, framework, comparable, isl,\n"
      "osl, tokens_per_s_out; start-up logs have model, hardware, framework,\n"
      "tp, gpu_memory_utilization, weights_gib, activation_peak_gib,\n"
      "kv_pool_gib, kv_tokens; training has model, arch, hardware, n_gpus, "
      "tp,\n"
      "pp, seq, gbs, mbs, iter_time_s or tokens_per_s_per_gpu, peak_gib.\n"
      "Rows that lack data, or contradict others, are left out by rules that\n"
      "never look at an error: --print-rules prints them.\n\n"
      "  autopar validate serving.csv\n"
      "  autopar validate mine.csv --columns=columns.json --rules=none\n"
      "  autopar validate serving.csv --predictions=predicted.csv --json\n"
      "  autopar validate serving.csv --format=html --output=errors.html\n");
  command->add_option("files", options->files, "Tables: CSV or JSON")
      ->type_name("FILE");
  command->add_option("--columns", options->columns,
                      "Names of the columns: a file of autopar.columns/1");
  command->add_option("--rules", options->rules,
                      "Which rows count: a file of autopar.rules/1, or none");
  command->add_flag("--print-rules", options->printRules,
                    "Print the rules as a file of autopar.rules/1, and stop");
  command->add_option("--configs", options->configs,
                      "Folder of models that are not bundled: org--name each");
  command->add_option("--set", options->overrides,
                      "Replace a figure: runtimes.vllm.host_time=300 "
                      "(repeatable)");
  addCalibration(command, options->overrides);
  command->add_option("--predictions", options->predictions,
                      "File for the prediction of each row, as CSV");
  command
      ->add_option("--format", options->format,
                   "text, json (autopar.validation/1), or html: a page "
                   "with charts")
      ->type_name("text|json|html")
      ->check(oneOf({"text", "json", "html"}));
  command->add_flag_callback(
      "--json", [options] { options->format = "json"; }, "--format=json");
  command->add_option("--output,--report-output", options->output,
                      "File for the report (default: standard output)");
  commands.push_back({command, [=] {
                        if (options->files.empty() && !options->printRules) {
                          std::fputs("error: a table is required\n", stderr);
                          return 1;
                        }
                        Result<std::string> text = runValidation(*options);
                        if (text)
                          return std::fputs(text->c_str(), stdout), 0;
                        std::fprintf(stderr, "error: %s\n",
                                     text.error().str().c_str());
                        return 1;
                      }});
}
