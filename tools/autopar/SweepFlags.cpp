//===- SweepFlags.cpp - The command line of sweeps ------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Checks.h"
#include "Commands.h"
#include "PlanArguments.h"
#include "SweepCommand.h"

#include "autopar/Sweep/Sweep.h"

#include <algorithm>

using namespace autopar;
using namespace autopar::pipelines;
using namespace autopar::sweep;

namespace {
struct SweepOptions : PlanArguments {
  SweepArgument sweep;
};
} // namespace

/// The flags of plans that accept lists in a sweep, with the help for this.
static constexpr std::pair<const char *, const char *> lists[] = {
    {"batch", "Sequences in a step: 64, 8|64|512, or 1..1024 for powers of two "
              "(default with --search: the best)"},
    {"context", "Cached tokens of each sequence after the step, a list as "
                "well: 4k|32k|128k"},
    {"prompt", "New tokens of each sequence in a prefill, a list as well; "
               "makes all steps prefills"},
    {"rate", "Arrival rate of a service in requests per second: 1|2|4; needs "
             "--prompt and --output-tokens, which cannot be lists then"},
    {"concurrency",
     "Requests of a service that run at once, a list as well: 1..64"},
    {"hardware", "Machines: names ('autopar hardware list') or files, "
                 "separated by commas (default: h100-sxm-8)"},
    {"set", "Replace a value of the libraries by each of a list: "
            "'chips.h100-sxm.memory_bandwidth=2e12|4e12'"}};

static const char *helpOfList(const std::string &name) {
  for (auto [flag, help] : lists)
    if (name == flag)
      return help;
  return nullptr;
}

/// Returns whether a flag applies to every row of the table. It does not if
/// rows cannot have it, or if it is a list here.
static bool isOfEachRow(const std::string &name) {
  static const std::vector<std::string> others = {
      "estimate", "explain",         "impact",   "verbose",
      "brief",    "trace",           "sla",      "simulate",
      "seed",     "requests-output", "requests", "diff-plans"};
  return !helpOfList(name) &&
         std::find(others.begin(), others.end(), name) == others.end();
}

static void addLists(CLI::App *command, SweepOptions &options) {
  const char *group = "What to sweep";
  const std::vector<PlanFlag> &flags = options.flags.all();
  for (auto [name, help] : lists)
    for (size_t i = 0; i < flags.size(); ++i)
      if (flags[i].name == name)
        addPlanOption(command, flags[i], name, help, options.values[i])
            ->group(group);
  command
      ->add_option("--devices", options.sweep.search.devices,
                   "Devices of each plan, as in 8..64; implies --search")
      ->type_name("N")
      ->group(group);
  command
      ->add_flag("--search", options.sweep.searches,
                 "Take the best plan at each point, as 'autopar search' finds "
                 "it")
      ->group(group);
}

static void addOutput(CLI::App *command, SweepArgument &sweep) {
  const char *group = "Report";
  addTableFormat(command, sweep.search, {"text", "json", "csv"});
  command
      ->add_option("--svg", sweep.svg,
                   "File for a plot over the first list of numbers (needs "
                   "gnuplot)")
      ->type_name("file")
      ->group(group);
  command
      ->add_option("--plot", sweep.plot,
                   "Column to plot, by its CSV name (default: tokens_per_s)")
      ->type_name("column")
      ->check(oneOf(plotColumns()))
      ->group(group);
}

/// Returns the names of the given flags in their order, each of them once.
static std::vector<std::string> orderOf(const CLI::App &command) {
  std::vector<std::string> order;
  for (const CLI::Option *option : command.parse_order())
    for (const std::string &name : option->get_lnames())
      if (std::find(order.begin(), order.end(), name) == order.end())
        order.push_back(name);
  return order;
}

void autopar::addSweep(CLI::App &app, std::vector<Command> &commands) {
  auto options = std::make_shared<SweepOptions>();
  CLI::App *command = app.add_subcommand(
      "sweep",
      "Tabulate and plot over batches, contexts, machines and figures");
  command->add_option("model", options->sweep.search.model.name, modelHelp)
      ->required();
  addLists(command, *options);
  addPlanFlags(command, *options, isOfEachRow);
  addChoices(command, options->sweep.search);
  addOutput(command, options->sweep);
  addSource(command, options->sweep.search.model);
  command->footer(
      "Prints a row for each combination of the lists; the first list varies\n"
      "slowest. Rows are decode steps, or prefills with --prompt, or services\n"
      "with --rate or --concurrency. Flags set the plan of all rows; with\n"
      "--search or --devices each row has its own best plan. Plans that do\n"
      "not fit, or are refused, have rows too.\n\n"
      "  autopar sweep llama-3.3-70b --shard-tp=8 --batch=1..256 \\\n"
      "                --context='4k|32k|128k' --svg=out.svg\n"
      "  autopar sweep deepseek-v3 --hardware=h200-sxm-8 --devices=8..64 \\\n"
      "                --batch=64 --format=csv\n"
      "  autopar sweep llama-3.3-70b --shard-tp=8 --batch=8 \\\n"
      "                --set='chips.h100-sxm.memory_bandwidth=2e12|4e12'\n");
  commands.push_back({command, [=] {
                        options->sweep.order = orderOf(*command);
                        return sweepPlans(options->sweep, options->flags,
                                          options->values);
                      }});
}
