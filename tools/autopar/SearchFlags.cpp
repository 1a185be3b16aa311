//===- SearchFlags.cpp - The command that searches ------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Checks.h"
#include "Commands.h"
#include "PlanArguments.h"

#include "autopar/Search/SearchSpace.h"

using namespace autopar;

namespace {
struct SearchOptions : PlanArguments {
  SearchArgument search;
};
} // namespace

bool autopar::isOfAllPlans(const std::string &name) {
  static const std::vector<std::string> wanted = {"hardware",
                                                  "phase",
                                                  "prompt",
                                                  "context",
                                                  "prefill-chunk",
                                                  "encoder-tokens",
                                                  "cross-tokens",
                                                  "dtype",
                                                  "kv-format",
                                                  "kv-dtype",
                                                  "nodes",
                                                  "price",
                                                  "runtime",
                                                  "set",
                                                  "memory-utilization",
                                                  "dispatch-by-node",
                                                  "dispatch-dtype",
                                                  "report-output"};
  return std::find(wanted.begin(), wanted.end(), name) != wanted.end();
}

void autopar::addChoices(CLI::App *command, SearchArgument &search) {
  const char *group = "What to search";
  command
      ->add_option("--space", search.space,
                   "Limits, as in tp=1..8,pp=1: " + spaceHelp() +
                       " (default: all, in default order)")
      ->type_name("limits")
      ->group(group);
  command
      ->add_option("--goal", search.goal,
                   "What is best: throughput (default), latency, cost or "
                   "devices")
      ->type_name("goal")
      ->check(oneOf({"throughput", "latency", "cost", "devices"}))
      ->group(group);
  command
      ->add_option("--sla", search.sla,
                   "Longest step wanted: tpot:30ms in decode, ttft:500ms in "
                   "prefill")
      ->type_name("limit")
      ->group(group);
  command
      ->add_option("--threads", search.threads,
                   "Threads that price (default: one for each core)")
      ->type_name("N")
      ->check(inRange(1, 1024))
      ->group(group);
}

void autopar::addTableFormat(CLI::App *command, SearchArgument &search) {
  const char *group = "Report";
  command
      ->add_option("--format", search.format, "Of the report (default: text)")
      ->type_name("text|json|csv")
      ->check(oneOf({"text", "json", "csv"}))
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
                   "How many devices: 64, 8|16|32, or 8..512 for 8, 16, 32 "
                   "and so on (default: a node)")
      ->type_name("N")
      ->group("Most used");
  command
      ->add_option("--batch", search.batches,
                   "Sequences in a step: 64, 8|64|512, or 1..1024 for powers "
                   "of two (default: 1..32768)")
      ->type_name("N")
      ->group("What to run");
  addChoices(command, search);
  const char *group = "What to search";
  command
      ->add_option("--why", search.why,
                   "A plan, in words or a file: why is it not the best?")
      ->type_name("plan")
      ->group(group);
  command->add_flag("--verify", search.verify, "Price what bounds exclude, too")
      ->group(group);
  addTableFormat(command, search);
  command
      ->add_option("--plans-output", search.plansOutput,
                   "Folder for the plans of the frontier, files of "
                   "autopar.plan/1 that --plan takes")
      ->type_name("folder")
      ->group("Report");
}

void autopar::addSearch(CLI::App &app, std::vector<Command> &commands) {
  auto options = std::make_shared<SearchOptions>();
  CLI::App *command = app.add_subcommand(
      "search", "The best plans of a model on machines, and a proof");
  command->add_option("model", options->search.model.name, modelHelp)
      ->required();
  addSearchFlags(command, options->search);
  addPlanFlags(command, *options, isOfAllPlans);
  addSource(command, options->search.model);
  command->footer(
      "Prices every plan of a space, and says which no other beats. Several\n"
      "machines are searched together: --hardware=a,b.\n\n"
      "  autopar search qwen3-235b-a22b --devices=16\n"
      "  autopar search deepseek-v3 --hardware=h200 --devices=8..64 \\\n"
      "                 --context=8192 --sla=tpot:30ms --goal=cost\n"
      "  autopar search llama-3.3-70b --space=tp=1..8,pp=1,fsdp=off --json\n");
  commands.push_back({command, [=] {
                        return searchPlans(options->search, options->flags,
                                           options->values);
                      }});
}
