//===- SearchFlags.cpp - The command that searches ------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Checks.h"
#include "Commands.h"
#include "Errors.h"
#include "LaunchCommands.h"

#include "autopar/Search/SearchSpace.h"
#include "autopar/Support/Text.h"

using namespace autopar;
using namespace autopar::pipelines;
using namespace autopar::search;
using namespace autopar::session;

namespace {
struct SearchOptions : PlanArguments {
  SearchArgument search;
  std::string from;
};
} // namespace

/// Adds `--phase`, which also accepts "request".
static void addPhase(CLI::App *command, PlanArguments &arguments) {
  const std::vector<PlanFlag> &flags = arguments.flags.all();
  for (size_t i = 0; i < flags.size(); ++i)
    if (flags[i].name == "phase")
      addPlanOption(command, flags[i], "phase",
                    "What to search plans for: decode (default), prefill, "
                    "train, or request, which is a service whose requests "
                    "follow each other without a pause",
                    arguments.values[i])
          ->type_name("phase");
}

void autopar::addChoices(CLI::App *command, SearchArgument &search) {
  const char *group = "What to search";
  command
      ->add_option("--space", search.space,
                   "Limits of the plans, as in tp=1..8,pp=1: " + spaceHelp() +
                       " (default: all, in default order)")
      ->type_name("limits")
      ->group(group);
  command
      ->add_option("--goal", search.goal,
                   "Quantity to optimise: throughput (default), "
                   "throughput-per-device, latency, cost or devices")
      ->type_name("goal")
      ->check(oneOf(
          {"throughput", "throughput-per-device", "latency", "cost", "devices"},
          {{"cheapest", "cost"},
           {"cheap", "cost"},
           {"price", "cost"},
           {"money", "cost"},
           {"fastest", "latency"},
           {"speed", "latency"},
           {"step-time", "latency"},
           {"tpot", "latency"},
           {"ttft", "latency"},
           {"tokens", "throughput"},
           {"gpus", "devices"}}))
      ->group(group);
  command
      ->add_option("--sla", search.sla,
                   "Latency limits: tpot:30ms in decode, ttft:500ms in "
                   "prefill, or both for requests")
      ->type_name("limit")
      ->group(group);
  command
      ->add_option("--threads", search.threads,
                   "Threads of the search (default: one per core)")
      ->type_name("N")
      ->check(inRange(1, 1024))
      ->group(group);
}

void autopar::addTableFormat(CLI::App *command, SearchArgument &search,
                             const std::vector<std::string> &formats) {
  const char *group = "Report";
  command
      ->add_option("--format", search.format,
                   "Format of the report (default: text)")
      ->type_name(join(formats, "|"))
      ->check(oneOf(formats))
      ->group(group);
  command
      ->add_flag_function(
          "--json", [&search](int64_t) { search.format = "json"; },
          "The same as --format=json")
      ->group(group);
}

static void addSearchFlags(CLI::App *command, SearchArgument &search) {
  command
      ->add_option("--devices", search.devices,
                   "Numbers of devices: 64, 8|16|32, or 8..512 for 8, 16, 32 "
                   "and so on (default: all of the nodes)")
      ->type_name("N")
      ->group("Most used");
  command
      ->add_option("--batch", search.batches,
                   "Sequences in a step: 64, 8|64|512, or 1..1024 for powers "
                   "of two (default: 1..32768; training needs one)")
      ->type_name("N")
      ->group("What to run");
  command
      ->add_option("--output-tokens", search.answer,
                   "Tokens of each answer, with --phase=request")
      ->type_name("N")
      ->group("What to run");
  addChoices(command, search);
  const char *group = "What to search";
  command
      ->add_option("--why", search.why,
                   "Explain why this plan, in words or a file, is not the best")
      ->type_name("plan")
      ->group(group);
  command
      ->add_flag(
          "--verify", search.verify,
          "Price also the plans that bounds exclude, to check the bounds")
      ->group(group);
  addTableFormat(command, search, {"text", "json", "csv", "html"});
  command
      ->add_option("--plans-output", search.plansOutput,
                   "Folder for the plans of the frontier, files of "
                   "autopar.plan/1 that --plan takes")
      ->type_name("folder")
      ->group("Report");
}

static int runSearch(SearchOptions &options) {
  if (!options.from.empty())
    if (std::optional<Error> error =
            takeLaunch(options.from, options.search, options))
      return printError(*error);
  return searchPlans(options.search, options.flags, options.values);
}

void autopar::addSearch(CLI::App &app, std::vector<Command> &commands) {
  auto options = std::make_shared<SearchOptions>();
  CLI::App *command = app.add_subcommand(
      "search", "Find the best plans of a model on machines, with proof");
  command->add_option("model", options->search.model.name, modelHelp)
      ->required();
  addSearchFlags(command, options->search);
  addPhase(command, *options);
  addPlanFlags(command, *options, [](const std::string &name) {
    return name != "phase" && isOfAllPlans(name);
  });
  command
      ->add_option("--from", options->from,
                   "Take model, runtime and devices from a launch, as 'autopar "
                   "read' reads it, and explain why its plan is not the best")
      ->group("What to search")
      ->type_name("file");
  addSource(command, options->search.model);
  command->footer(
      "Prices every plan of a space and prints the Pareto frontier. Lists of\n"
      "machines, runtimes, formats and chunks are searched together, as in\n"
      "--hardware=h100,b200 --kv-format=bf16,fp8 --prefill-chunk=2048,8192.\n"
      "--batch is, with --phase=request, the number of requests at once, each\n"
      "replaced when it ends; in training, the sequences of an iteration.\n\n"
      "  autopar search qwen3-235b-a22b --devices=16\n"
      "  autopar search deepseek-v3 --hardware=h200 --devices=8..64 \\\n"
      "                 --context=8192 --sla=tpot:30ms --goal=cost\n"
      "  autopar search llama-3.3-70b --space=tp=1..8,pp=1,fsdp=off --json\n"
      "  autopar search llama-3.3-70b --phase=request --prompt=2000 \\\n"
      "                 --output-tokens=500 --sla=ttft:500ms,tpot:30ms\n"
      "  autopar search llama-3.1-8b --phase=train --batch=512 --context=4096 "
      "\\\n"
      "                 --devices=64 --runtime=megatron\n");
  commands.push_back({command, [=] { return runSearch(*options); }});
}
