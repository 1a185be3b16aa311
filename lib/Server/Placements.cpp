//===- Placements.cpp - The path of placements ----------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ApiState.h"

#include "autopar/Support/Limits.h"

#include <nlohmann/json.hpp>

using namespace autopar;
using namespace autopar::importer;
using namespace autopar::model;
using namespace autopar::placement;
using namespace autopar::plan;
using namespace autopar::program;
using namespace autopar::report;
using namespace autopar::schedule;
using namespace autopar::search;
using namespace autopar::session;
using namespace autopar::server;

static void readSizes(const JsonReader &flags, PlacementRequest &request) {
  constexpr int64_t maxBytes = int64_t(1) << 60;
  struct Size {
    std::string_view name;
    int64_t &value;
    int64_t least, most;
  };
  const Size sizes[] = {
      {"experts", request.experts, 1, limits::maxPlacedExperts},
      {"ranks", request.ranks, 1, limits::maxPlacedSlots},
      {"slots", request.slotsPerRank, 1, limits::maxPlacedSlots},
      {"redundant", request.redundant, 0, limits::maxPlacedSlots},
      {"expert-budget", request.budgetBytes, 1, maxBytes},
      {"expert-bytes", request.expertBytes, 1, maxBytes},
      {"nodes", request.nodes, 1, limits::maxTracedNodes},
      {"groups", request.groups, 1, limits::maxPlacedExperts}};
  for (const Size &size : sizes)
    if (auto value = flags.optionalInteger(size.name, size.least, size.most))
      size.value = *value;
  if (!flags.has("ranks"))
    flags.fail("expected \"ranks\", the devices that share the experts of a "
               "layer");
  if (flags.has("slots") + flags.has("redundant") + flags.has("expert-budget") >
      1)
    flags.fail("\"slots\", \"redundant\" and \"expert-budget\" exclude each "
               "other");
}

/// Reads loads that are given by a word. Files are not allowed, because they
/// would be paths.
static void readLoads(const JsonReader &flags, PlacementRequest &request) {
  request.sources.load = flags.string("load");
  if (flags.failed())
    return;
  Result<std::optional<SyntheticLoad>> load =
      parseSyntheticLoad(request.sources.load);
  if (!load)
    flags.failAt("load", load.error().message, load.error().note);
  else if (!*load)
    flags.failAt("load", "is no word for loads, and a server opens no file",
                 "even, zipf:1.0 or log_normal:0.24");
}

static Result<PlacementRequest> readRequest(const JsonReader &body) {
  PlacementRequest request;
  request.format = "json";
  JsonReader flags = body.object("flags");
  flags.allowOnly({"experts", "ranks", "slots", "redundant", "expert-budget",
                   "expert-bytes", "nodes", "groups", "groups-in-node", "load",
                   "layers", "policy", "tolerance"});
  readSizes(flags, request);
  readLoads(flags, request);
  request.groupsInNode = flags.booleanOr("groups-in-node", false);
  request.layers = flags.optionalString("layers").value_or("");
  request.policy = flags.optionalString("policy").value_or(
      std::string(nameOf(PlacementPolicy::balanced)));
  request.tolerance =
      flags.optionalNumber("tolerance", 0, 1).value_or(request.tolerance);
  if (body.failed())
    return body.takeError();
  return request;
}

Answer autopar::server::place(Session &session, const Call &call) {
  const JsonReader &body = call.body;
  body.allowOnly({"model", "config", "module", "weight_format", "flags"});
  Result<PlacementRequest> request = readRequest(body);
  if (!request)
    return request.error();
  auto placed = [&]() -> Answer {
    if (!body.has("model") && !body.has("config") && !body.has("module"))
      return runPlacement(*request);
    Result<ModelRequest> model = readModel(session, body);
    return model ? session.place(*model, *request) : model.error();
  }();
  if (!placed && placed.error().where.empty())
    return Error{std::string(bodyName) + ": /flags", placed.error().message,
                 placed.error().note};
  return placed;
}
