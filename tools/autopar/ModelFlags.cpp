//===- ModelFlags.cpp - The command lines of estimate and models ----------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Commands.h"
#include "ModelCommands.h"

using namespace autopar;

/// How models are named, for every command that takes one.
static const char *const modelHelp =
    "A bundled model ('autopar models list'), a config.json or a directory "
    "that has one, '-' for standard input, or org/name[@revision] on the hub "
    "(HF_TOKEN, HF_ENDPOINT), which is kept in AUTOPAR_CACHE";

static void addSource(CLI::App *command, ModelArgument &model) {
  command->add_option("--revision", model.revision,
                      "Branch, tag or commit on the hub (default: main)");
  command->add_flag("--offline", model.offline,
                    "Never use the network (also: HF_HUB_OFFLINE=1)");
  command
      ->add_option("--assume", model.assumptions,
                   "key=value: set a key of the config (a.b for nested ones) "
                   "that it lacks or has wrong (repeatable)")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

//===----------------------------------------------------------------------===//
// estimate
//===----------------------------------------------------------------------===//

namespace {
struct EstimateOptions {
  ModelArgument model;
  PlanFlags flags;
  PlanValues values;
};
} // namespace

/// An option with a value, given as often as the plan allows.
static CLI::Option *addOption(CLI::App *command, const PlanFlag &flag,
                              const std::string &name, const std::string &help,
                              std::vector<std::string> &values) {
  return command->add_option("--" + name, values, help)
      ->type_name(flag.value)
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

/// The flags of a plan. `--estimate`, which this command is, says the format.
static void addPlanFlags(CLI::App *command, EstimateOptions &options) {
  const std::vector<PlanFlag> &flags = options.flags.all();
  options.values.resize(flags.size());
  for (size_t i = 0; i < flags.size(); ++i) {
    const PlanFlag &flag = flags[i];
    std::vector<std::string> &values = options.values[i];
    auto addBare = [&](const std::string &name, const std::string &value,
                       const std::string &help) {
      auto add = [&values, value](int64_t) { values.push_back(value); };
      return command->add_flag_function("--" + name, add, help);
    };
    if (flag.name == "diff-plans")
      continue;
    if (flag.name == "estimate") {
      CLI::Option *format = addOption(command, flag, "format",
                                      "Of the report (default: text)", values);
      addBare("json", "json", "The same as --format=json")->excludes(format);
    } else if (flag.bare.empty()) {
      addOption(command, flag, flag.name, flag.help, values);
    } else {
      addBare(flag.name, flag.bare, flag.help);
    }
  }
}

/// `autopar compare` is `--diff-plans`, under a shorter name.
static void addPlans(CLI::App *command, EstimateOptions &options) {
  const std::vector<PlanFlag> &flags = options.flags.all();
  for (size_t i = 0; i < flags.size(); ++i)
    if (flags[i].name == "diff-plans")
      addOption(command, flags[i], "plans", flags[i].help, options.values[i])
          ->required();
}

static int runEstimate(EstimateOptions &options) {
  const std::vector<PlanFlag> &flags = options.flags.all();
  for (size_t i = 0; i < flags.size(); ++i)
    if (flags[i].name == "estimate" && options.values[i].empty())
      options.values[i] = {flags[i].bare};
  return estimate(options.model, options.flags, options.values);
}

void autopar::addEstimate(CLI::App &app, std::vector<Command> &commands) {
  auto options = std::make_shared<EstimateOptions>();
  CLI::App *command = app.add_subcommand(
      "estimate", "What a step of a model costs: memory, time, communication");
  command->add_option("model", options->model.name, modelHelp)->required();
  addPlanFlags(command, *options);
  addSource(command, options->model);
  command->footer(
      "Prints what autopar-translate | autopar-opt --estimate prints.\n\n"
      "  autopar estimate llama-3.3-70b --shard-tp=8\n"
      "  autopar estimate llama-3.3-70b --shard-tp=8 --phase=decode "
      "--batch=64 \\\n"
      "                   --context=4096 --hardware=h200-sxm-8\n"
      "  autopar estimate Qwen/Qwen3-8B --phase=decode --json\n"
      "  autopar estimate ./config.json --explain\n");
  commands.push_back({command, [=] { return runEstimate(*options); }});
}

void autopar::addCompare(CLI::App &app, std::vector<Command> &commands) {
  auto options = std::make_shared<EstimateOptions>();
  CLI::App *command = app.add_subcommand(
      "compare", "In what two plans of a model differ: layouts, bytes, time");
  command->add_option("model", options->model.name, modelHelp)->required();
  addPlanFlags(command, *options);
  addPlans(command, *options);
  addSource(command, options->model);
  command->footer("Plans are files of autopar.plan/1; other flags count for "
                  "both.\n\n"
                  "  autopar compare llama-3.3-70b --plans=tp4.json,tp8.json\n"
                  "  autopar compare llama-3.3-70b --plans=a.json,b.json "
                  "--phase=decode --json\n");
  commands.push_back({command, [=] { return runEstimate(*options); }});
}

//===----------------------------------------------------------------------===//
// models
//===----------------------------------------------------------------------===//

namespace {
struct ModelsOptions {
  ModelArgument model;
  std::string kvFormat;
  bool json = false, families = false;
};
} // namespace

static void addKvFormat(CLI::App *command, ModelsOptions &options) {
  command
      ->add_option("--kv-dtype", options.kvFormat,
                   "Format of the KV cache (default: bf16 and fp8)")
      ->type_name("format");
}

void autopar::addModels(CLI::App &app, std::vector<Command> &commands) {
  auto options = std::make_shared<ModelsOptions>();
  CLI::App *models =
      app.add_subcommand("models", "Models: what follows from them alone");
  models->footer("  autopar models list\n"
                 "  autopar models list --families\n"
                 "  autopar models show llama-3.1-8b\n"
                 "  autopar models show deepseek-ai/DeepSeek-V3 --json\n"
                 "  autopar models diff qwen3-32b qwen3-235b-a22b\n");
  CLI::App *list = models->add_subcommand("list", "The bundled models");
  list->add_flag("--families", options->families,
                 "The model types that can be imported instead");
  commands.push_back({list, [=] {
                        return options->families ? listFamilies()
                                                 : listModels();
                      }});
  CLI::App *show = models->add_subcommand(
      "show", "Parameters, KV cache and FLOPs of a model, counted from its IR");
  show->add_option("model", options->model.name, modelHelp)->required();
  show->add_flag("--json", options->json, "As JSON (autopar.model/1)");
  addKvFormat(show, *options);
  addSource(show, options->model);
  commands.push_back({show, [=] {
                        return showModel(options->model, options->kvFormat,
                                         options->json);
                      }});
  CLI::App *diff = models->add_subcommand("diff", "In what two models differ");
  diff->add_option("first", options->model.name, modelHelp)->required();
  diff->add_option("second", options->model.second, "Likewise")->required();
  addKvFormat(diff, *options);
  addSource(diff, options->model);
  commands.push_back(
      {diff, [=] { return diffModels(options->model, options->kvFormat); }});
}
