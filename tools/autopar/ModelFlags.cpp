//===- ModelFlags.cpp - Command lines of estimate, groups and models ------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Checks.h"
#include "Commands.h"
#include "Errors.h"
#include "PlanArguments.h"

#include "autopar/Model/WeightFormat.h"
#include "autopar/Pipelines/FlagValues.h"
#include "autopar/Plan/PlanText.h"
#include "autopar/Support/Text.h"

#include <tuple>

using namespace autopar;
using namespace autopar::model;
using namespace autopar::pipelines;

/// The help on names of models, for every command that takes a model.
const char *const autopar::modelHelp =
    "A bundled model ('autopar models list'), a config.json or a directory "
    "that has one, a .mlir file of autopar-translate, '-' for a config on "
    "standard input, or org/name[@revision] or an address of the Hugging Face "
    "hub (HF_TOKEN, HF_ENDPOINT), cached in AUTOPAR_CACHE";

void autopar::addSource(CLI::App *command, ModelArgument &model) {
  std::string group = command->option_defaults()->get_group();
  command->option_defaults()->group("Model source");
  command
      ->add_option("--revision", model.revision,
                   "Branch, tag or commit on the hub (default: main)")
      ->type_name("revision");
  command->add_flag("--offline", model.offline,
                    "Never use the network (also: HF_HUB_OFFLINE=1)");
  command->add_flag("--refresh", model.refresh,
                    "Ask the hub even where the cache has the model");
  command
      ->add_option(
          "--weight-format", model.weightFormat,
          "Format of the weights, as if the model were published in it: " +
              join(weightFormatNames(), ", ") +
              " (default: as stored; name:format means the same)")
      ->type_name("format");
  command
      ->add_option("--assume", model.assumptions,
                   "Set a key of the config (a.b for nested ones) that is "
                   "missing or wrong (repeatable)")
      ->type_name("key=value")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command->option_defaults()->group(group);
}

void autopar::addModel(CLI::App *command, ModelArgument &model) {
  command->add_option("model", model.name, modelHelp);
  addSource(command, model);
}

//===----------------------------------------------------------------------===//
// Flags of autopar estimate and autopar compare
//===----------------------------------------------------------------------===//

namespace {
struct EstimateOptions : PlanArguments {
  ModelArgument model;
  std::string bundle, from;
  /// Launches whose plans are compared.
  std::vector<std::string> launches;
};

struct GroupsOptions : PlanArguments {
  std::string name;
};
} // namespace

/// Adds an option with a value, which may be repeated as often as the plan
/// allows.
CLI::Option *autopar::addPlanOption(CLI::App *command, const PlanFlag &flag,
                                    const std::string &name,
                                    const std::string &help,
                                    std::vector<std::string> &values) {
  return command->add_option("--" + name, values, help)
      ->group(flag.group)
      ->type_name(flag.value)
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

/// Adds `--format`, whose value becomes that of `--estimate`, which the command
/// implies.
static void addFormat(CLI::App *command, const PlanFlag &flag,
                      std::vector<std::string> &values) {
  CLI::Option *format = addPlanOption(
      command, flag, "format", "Format of the report (default: text)", values);
  command
      ->add_flag_function(
          "--json", [&values](int64_t) { values.push_back("json"); },
          "The same as --format=json")
      ->group(flag.group)
      ->excludes(format);
}

CLI::Option *autopar::addCalibration(CLI::App *command,
                                     std::vector<std::string> &overrides) {
  // Figures that --set gives hold over those of the calibration.
  return command->add_option_function<std::string>(
      "--calibration",
      [&overrides](const std::string &file) {
        overrides.insert(overrides.begin(), "@" + file);
      },
      "Take the figures that `autopar calibrate` fitted: a file of "
      "autopar.calibration/1");
}

/// Adds the flags that `wanted` accepts.
void autopar::addPlanFlags(
    CLI::App *command, PlanArguments &arguments,
    const std::function<bool(const std::string &name)> &wanted) {
  const std::vector<PlanFlag> &flags = arguments.flags.all();
  for (size_t i = 0; i < flags.size(); ++i) {
    const PlanFlag &flag = flags[i];
    std::vector<std::string> &values = arguments.values[i];
    if (!wanted(flag.name))
      continue;
    if (flag.name == "estimate")
      addFormat(command, flag, values);
    else if (flag.bare.empty())
      addPlanOption(command, flag, flag.name, flag.help, values);
    else if (flag.bare != "true")
      addPlanOption(command, flag, flag.name, flag.help, values)
          ->expected(0, 1);
    else
      command
          ->add_flag_function(
              "--" + flag.name,
              [&values, &flag](int64_t count) {
                values.push_back(count > 0 ? flag.bare : "false");
              },
              flag.help)
          ->group(flag.group);
    if (flag.name == "set")
      addCalibration(command, values)->group(flag.group);
  }
}

/// Returns whether a flag applies to a single plan.
static bool isOfOnePlan(const std::string &name) {
  return name != "diff-plans";
}

/// Adds `--diff-plans` under the shorter name that `autopar compare` gives it.
static void addPlans(CLI::App *command, EstimateOptions &options) {
  const std::vector<PlanFlag> &flags = options.flags.all();
  for (size_t i = 0; i < flags.size(); ++i)
    if (flags[i].name == "diff-plans")
      addPlanOption(
          command, flags[i], "plans",
          "Plans between semicolons, as in 'tp8; tp4,pp2,sp', or files "
          "of autopar.plan/1; flags override them",
          options.values[i]);
}

/// Makes a report the default output.
static EstimateOptions &withFormat(EstimateOptions &options) {
  const std::vector<PlanFlag> &flags = options.flags.all();
  for (size_t i = 0; i < flags.size(); ++i)
    if (flags[i].name == "estimate" && options.values[i].empty())
      options.values[i] = {flags[i].bare};
  return options;
}

static int runEstimate(EstimateOptions &options) {
  withFormat(options);
  if (!options.from.empty())
    if (std::optional<Error> error =
            takeLaunch(options.from, options.model, options))
      return printError(*error);
  if (options.model.name.empty())
    return printError({"", "--from: the launch names no model",
                       std::string("model: ") + modelHelp});
  return estimate(options.model, options.flags, options.values, options.bundle);
}

/// Sets a value that all launches must have in common, such as their runtime.
static std::optional<Error> setCommon(const std::string &what,
                                      const std::string &file,
                                      const std::string &found,
                                      std::string &common) {
  if (common.empty())
    common = found;
  if (common == found)
    return std::nullopt;
  return Error{"",
               "--from: " + file + " has the " + what + " " + found +
                   ", a launch before it " + common,
               "give launches of one " + what};
}

/// Adds the plan of each launch to the plans that are compared. The launches
/// have one model and one runtime.
static std::optional<Error> takePlans(EstimateOptions &options) {
  std::string model, runtime;
  for (const std::string &file : options.launches) {
    PlanArguments own;
    ModelArgument ownModel = options.model;
    if (std::optional<Error> error = takeLaunch(file, ownModel, own))
      return error;
    for (const auto &[what, found, common] :
         {std::tuple("model", ownModel.name, &model),
          std::tuple("runtime",
                     valuesOf(own.flags, own.values, "runtime").front(),
                     &runtime)})
      if (std::optional<Error> error = setCommon(what, file, found, *common))
        return error;
    std::string text = valuesOf(own.flags, own.values, "plan").front();
    Result<plan::Plan> plan = plan::loadPlan(text);
    if (!plan)
      return plan.error();
    valuesOf(options.flags, options.values, "diff-plans")
        .push_back(plan::planText(*plan).value_or(text));
  }
  options.model.name = model;
  std::vector<std::string> &given =
      valuesOf(options.flags, options.values, "runtime");
  if (given.empty())
    given = {runtime};
  return std::nullopt;
}

static int runCompare(EstimateOptions &options) {
  withFormat(options);
  if (!options.launches.empty())
    if (std::optional<Error> error = takePlans(options))
      return printError(*error);
  return compare(options.model, options.flags, options.values);
}

void autopar::addEstimate(CLI::App &app, std::vector<Command> &commands) {
  auto options = std::make_shared<EstimateOptions>();
  CLI::App *command = app.add_subcommand(
      "estimate", "Estimate memory, time and communication of a step, a "
                  "service or a training iteration");
  command->add_option("model", options->model.name, modelHelp)->required();
  addPlanFlags(command, *options, isOfOnePlan);
  command
      ->add_option("--from", options->from,
                   "Take model, plan and runtime from a launch, as 'autopar "
                   "read' reads it; flags override them")
      ->group("How to split")
      ->type_name("file");
  command
      ->add_option("--bundle", options->bundle,
                   "Also write the report and all its inputs to a zip file, "
                   "which 'autopar replay' estimates again")
      ->group("Report")
      ->type_name("file");
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
  CLI::App *command =
      app.add_subcommand("compare", "Compare plans, machines and models side "
                                    "by side, in time, memory and money");
  command
      ->add_option("model", options->model.name,
                   std::string(modelHelp) + "; several between commas")
      ->required();
  addPlanFlags(command, *options, isOfOnePlan);
  addPlans(command, *options);
  command
      ->add_option("--from", options->launches,
                   "Also compare the plan of a launch, as 'autopar read' reads "
                   "it; given once for each launch of one model and runtime")
      ->group("How to split")
      ->type_name("file")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  addSource(command, options->model);
  command->footer(
      "Two plans of a model are compared tensor by tensor; several plans,\n"
      "machines (--hardware=a,b) or models (a,b) make a table. Plans are "
      "words:\n"
      "a degree and its size (tp8 pp2 dp4 cp2 ep8 etp2 dcp2), sp, fsdp, or\n"
      "name=value of another flag. Flags apply to all; --price may have one\n"
      "value for each machine.\n\n"
      "  autopar compare llama-3.3-70b --plans='tp8; tp4,pp2,sp'\n"
      "  autopar compare llama-3.3-70b --plans=tp4.json,tp8.json\n"
      "  autopar compare --from=today.sh --from=tomorrow.sh\n"
      "  autopar compare llama-3.3-70b --hardware=a100,h100 --shard-tp=8 \\\n"
      "                  --phase=decode --batch=32 --context=4096\n"
      "  autopar compare llama-3.1-8b,qwen3-8b --phase=decode --json\n");
  commands.push_back({command, [=] { return runCompare(*options); }});
}

//===----------------------------------------------------------------------===//
// Flags of autopar groups
//===----------------------------------------------------------------------===//

/// Returns whether a flag says something about the mesh.
static bool makesMesh(const std::string &name) {
  return name == "plan" || name == "mesh" || name == "map" ||
         (name.rfind("shard-", 0) == 0 && name != "shard-sp");
}

void autopar::addGroups(CLI::App &app, std::vector<Command> &commands) {
  auto options = std::make_shared<GroupsOptions>();
  CLI::App *command = app.add_subcommand(
      "groups", "List the device groups of an axis or a degree");
  command->add_option("name", options->name, "An axis or a degree: tp, ep, dpi")
      ->required();
  addPlanFlags(command, *options, makesMesh);
  command->footer(
      "Prints one group a line: its devices by rank, numbered as the axes of\n"
      "the mesh run, the last one fastest.\n\n"
      "  autopar groups ep --shard-tp=2 --shard-dp=4 --shard-ep=4\n"
      "  autopar groups tp --shard-tp=2 --shard-dp=4 --map=tp,dp\n");
  commands.push_back({command, [=] {
                        return printGroups(options->name, options->flags,
                                           options->values);
                      }});
}

//===----------------------------------------------------------------------===//
// Flags of autopar models
//===----------------------------------------------------------------------===//

namespace {
struct ModelsOptions {
  ModelArgument model;
  std::string kvFormat, output = "-";
  std::string type, config, weights;
  SmallSizes sizes;
  bool json = false, families = false;
};
} // namespace

static void addKvFormat(CLI::App *command, ModelsOptions &options) {
  command
      ->add_option("--kv-dtype", options.kvFormat,
                   "Format of the KV cache (default: bf16 and fp8)")
      ->type_name("format");
}

static void addShrink(CLI::App *models, std::shared_ptr<ModelsOptions> options,
                      std::vector<Command> &commands) {
  CLI::App *shrink = models->add_subcommand(
      "shrink", "Write the config of a small model of the same structure");
  shrink->add_option("model", options->model.name, modelHelp)->required();
  shrink->add_option("-o", options->output, "File (default: standard output)");
  shrink
      ->add_option("--layers", options->sizes.layers,
                   "Fewest layers of a stack; more where every kind of layer "
                   "needs more (default: 2)")
      ->transform(inRange(1, 1000));
  shrink
      ->add_option("--experts", options->sizes.experts,
                   "Most routed experts per layer (default: 8)")
      ->transform(inRange(2, 1024));
  addSource(shrink, options->model);
  shrink->footer(
      "Keeps every kind of layer, with few heads and experts and small widths\n"
      "that divide as before: plans up to 8 devices work on both. Executing\n"
      "the small model then checks that a plan computes the same results:\n\n"
      "  autopar models shrink deepseek-v3 -o small.json\n"
      "  autopar-translate --import-hf small.json -o small.mlir\n"
      "  autopar-opt --shard-tp=4 --shard-ep=4 small.mlir -o split.mlir\n"
      "  autopar-run split.mlir --check=small.mlir --query=8,1,1\n");
  commands.push_back({shrink, [=] {
                        return shrinkModel(options->model, options->sizes,
                                           options->output);
                      }});
}

static void addNew(CLI::App *models, std::shared_ptr<ModelsOptions> options,
                   std::vector<Command> &commands) {
  CLI::App *create = models->add_subcommand(
      "new", "Draft a model family from a config and a checkpoint's header");
  create->add_option("type", options->type, "model_type of its configs")
      ->required();
  create->add_option("--config", options->config, "A config.json")
      ->type_name("file")
      ->required();
  create
      ->add_option("--weights", options->weights,
                   "A *.safetensors, a *.index.json or a folder of them; only "
                   "headers are read")
      ->type_name("path")
      ->required();
  create->add_option("-o", options->output, "File (default: standard output)");
  create->footer(
      "Layers, products and norms are recognised by their names and shapes.\n"
      "The rest is guessed, listed, and noted in the file; tensors that fit\n"
      "no block are listed as left over. Then check it:\n\n"
      "  autopar models new mine --config config.json --weights .\n"
      "      -o models/families/mine.json\n"
      "  autopar-translate --import-hf config.json --verify-weights .\n");
  commands.push_back({create, [=] {
                        return newFamily(options->type, options->config,
                                         options->weights, options->output);
                      }});
}

void autopar::addModels(CLI::App &app, std::vector<Command> &commands) {
  auto options = std::make_shared<ModelsOptions>();
  CLI::App *models = app.add_subcommand(
      "models", "List, show, compare, shrink and add models");
  models->footer(
      "  autopar models list\n"
      "  autopar models list --families\n"
      "  autopar models show llama-3.1-8b\n"
      "  autopar models show deepseek-ai/DeepSeek-V3 --json\n"
      "  autopar models diff qwen3-32b qwen3-235b-a22b\n"
      "  autopar models shrink deepseek-v3 -o small.json\n"
      "  autopar models new mine --config config.json --weights .\n");
  CLI::App *list = models->add_subcommand("list", "List the bundled models");
  list->add_flag("--families", options->families,
                 "List the model types that can be imported instead");
  commands.push_back({list, [=] {
                        return options->families ? listFamilies()
                                                 : listModels();
                      }});
  CLI::App *show = models->add_subcommand(
      "show",
      "Show parameters, KV cache and FLOPs of a model, counted from its IR");
  show->add_option("model", options->model.name, modelHelp)->required();
  show->add_flag("--json", options->json, "As JSON (autopar.model/1)");
  addKvFormat(show, *options);
  addSource(show, options->model);
  commands.push_back({show, [=] {
                        return showModel(options->model, options->kvFormat,
                                         options->json);
                      }});
  CLI::App *diff =
      models->add_subcommand("diff", "Show the differences of two models");
  diff->add_option("first", options->model.name, modelHelp)->required();
  diff->add_option("second", options->model.second, "Likewise")->required();
  addKvFormat(diff, *options);
  addSource(diff, options->model);
  commands.push_back(
      {diff, [=] { return diffModels(options->model, options->kvFormat); }});
  addShrink(models, options, commands);
  addNew(models, options, commands);
}
