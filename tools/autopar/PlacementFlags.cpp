//===- PlacementFlags.cpp - The command line of autopar placement ---------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Checks.h"
#include "Commands.h"
#include "autopar/Placement/PlacementRequest.h"
#ifdef AUTOPAR_ENABLE_MLIR
#include "ModelCommands.h"
#endif

#include "autopar/Page/Page.h"
#include "autopar/Support/File.h"
#include "autopar/Support/Limits.h"

#include <cstdio>

using namespace autopar;
using namespace autopar::page;
using namespace autopar::placement;
using namespace autopar::program;

namespace {
/// The values of the flags on the command line.
struct Options {
  PlacementRequest request;
  std::string output = "-";
#ifdef AUTOPAR_ENABLE_MLIR
  ModelArgument model;
#endif
};
} // namespace

static int fail(const Error &error) {
  std::fprintf(stderr, "error: %s\n", error.str().c_str());
  return 1;
}

static Result<std::string> place(const Options &options) {
#ifdef AUTOPAR_ENABLE_MLIR
  if (!options.model.name.empty())
    return placeExperts(options.model, options.request);
#endif
  return runPlacement(options.request);
}

/// Returns the page, which is made from the JSON report.
static Result<std::string> pageOf(Options options) {
  options.request.format = "json";
  Result<std::string> json = place(options);
  if (!json)
    return json;
  options.request.format = "text";
  Result<std::string> text = place(options);
  if (!text)
    return text;
  return makePage("autopar: expert placement", {{"placement", *json}}, *text);
}

static int run(Options &options) {
  Result<std::string> text =
      options.request.format == "html" ? pageOf(options) : place(options);
  if (!text)
    return fail(text.error());
  Result<bool> written = writeOutput(options.output, *text);
  return written ? 0 : fail(written.error());
}

static CLI::Option *addNumber(CLI::App *command, const char *name,
                              int64_t &value, int64_t max, const char *help) {
  return command->add_option(name, value, help)
      ->type_name("N")
      ->transform(inRange(1, max));
}

static CLI::Option *addBytes(CLI::App *command, const char *name,
                             int64_t &value, const char *help) {
  return command->add_option(name, value, help)
      ->type_name("SIZE")
      ->transform(aSize());
}

static void addSpace(CLI::App *command, PlacementRequest &request) {
  addNumber(command, "--experts", request.experts, limits::maxPlacedExperts,
            "Experts per layer (default: that of the model or the loads)");
  addNumber(command, "--ranks", request.ranks, limits::maxPlacedSlots,
            "Devices that share the experts of a layer")
      ->required();
  CLI::Option *slots = addNumber(
      command, "--slots", request.slotsPerRank, limits::maxPlacedSlots,
      "Experts per rank, copies included (default: no copies)");
  command
      ->add_option("--redundant", request.redundant,
                   "Slots of all ranks beyond one per expert, for copies")
      ->type_name("N")
      ->transform(inRange(0, limits::maxPlacedSlots))
      ->excludes(slots);
  addBytes(command, "--expert-budget", request.budgetBytes,
           "Memory per rank for the experts of all layers, such as 40GiB; sets "
           "the number of slots")
      ->excludes(slots)
      ->excludes("--redundant");
  addBytes(command, "--expert-bytes", request.expertBytes,
           "Bytes of an expert in one layer, for --expert-budget (default: the "
           "model's)");
  addNumber(command, "--nodes", request.nodes, limits::maxTracedNodes,
            "Nodes of the ranks (default: 1)");
  addNumber(command, "--groups", request.groups, limits::maxPlacedExperts,
            "Groups of experts that routers select from (default: the "
            "model's)");
  command->add_flag("--groups-in-node", request.groupsInNode,
                    "Keep the experts of a group within one node");
}

static void addLoads(CLI::App *command, PlacementRequest &request) {
  command
      ->add_option("--load", request.sources.load,
                   "Tokens per expert and layer: a file of autopar.load/1, a "
                   "bare array of rows, or CSV; or a word: even, zipf:1.0, "
                   "log_normal:0.24, with ,tokens=N,seed=N")
      ->type_name("file|zipf:1.0|...");
  command
      ->add_option("--trace", request.sources.trace,
                   "Experts that each token was routed to (JSON lines or CSV), "
                   "for a placement that saves sends to other nodes")
      ->type_name("file");
  command
      ->add_option("--layers", request.layers,
                   "Layers with experts: their number, or the first and the "
                   "last (default: that of the model or the loads)")
      ->type_name("N|first-last");
  request.policy = nameOf(PlacementPolicy::balanced);
  command
      ->add_option("--policy", request.policy,
                   "block, round_robin or balanced (default: balanced)")
      ->type_name("block|round_robin|balanced");
  command
      ->add_option("--tolerance", request.tolerance,
                   "Share by which the most loaded rank may exceed the best "
                   "balance, to save sends (default: 0.02)")
      ->type_name("share");
}

static void addMap(CLI::App *command, PlacementRequest &request) {
  command
      ->add_option("--from", request.map,
                   "Evaluate this map of sglang, vllm or vllm_ascend; --slots "
                   "or --redundant must match it")
      ->type_name("file")
      ->excludes("--policy")
      ->excludes("--tolerance")
      ->excludes("--groups-in-node");
}

static void addOutput(CLI::App *command, Options &options) {
  PlacementRequest &request = options.request;
  CLI::Option *format =
      command
          ->add_option("--format", request.format,
                       "text (default), json: autopar.placement/1, or html: a "
                       "page")
          ->type_name("text|json|html")
          ->check(oneOf({"text", "json", "html"}));
  command
      ->add_option("--export", request.engine,
                   "Write the map in the form that an engine loads: sglang "
                   "(--init-expert-location), vllm (initial_expert_map_path), "
                   "vllm_ascend (expert_map_path)")
      ->type_name("sglang|vllm|vllm_ascend")
      ->excludes(format);
  addNumber(command, "--decoder-layers", request.decoderLayers,
            limits::maxConfigLayers,
            "Layers of the model, those without experts too, for --export "
            "(default: the model's)");
  command
      ->add_option("--output,--report-output", options.output,
                   "File for the output (default: standard output)")
      ->type_name("file");
}

void autopar::addPlacement(CLI::App &app, std::vector<Command> &commands) {
  auto options = std::make_shared<Options>();
  CLI::App *command = app.add_subcommand(
      "placement",
      "Place experts, and copies of the most loaded ones, on devices");
#ifdef AUTOPAR_ENABLE_MLIR
  addModel(command, options->model);
#endif
  addSpace(command, options->request);
  addLoads(command, options->request);
  addMap(command, options->request);
  addOutput(command, *options);
  command->footer(
      "Prints the load of the most loaded rank over the mean, before (block)\n"
      "and after; a step waits for that rank.\n\n"
      "  autopar placement --experts=256 --ranks=32 --slots=9 --load=zipf:1.0\n"
      "  autopar placement deepseek-v3 --ranks=32 --redundant=32 --nodes=4 \\\n"
      "                    --load=loads.json --export=sglang "
      "--output=map.json\n"
      "  autopar placement deepseek-v3 --ranks=32 --redundant=32 \\\n"
      "                    --load=loads.json --from=map.json\n"
      "  autopar placement --experts=64 --ranks=8 --trace=trace.jsonl "
      "--nodes=2\n");
  commands.push_back({command, [=] { return run(*options); }});
}
