//===- Models.cpp - Paths of models ---------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ApiState.h"

#include "autopar/Model/WeightFormat.h"
#include "autopar/Support/Text.h"
#include "autopar/Write/Json.h"

#include <nlohmann/json.hpp>

using namespace autopar;
using namespace autopar::hub;
using namespace autopar::importer;
using namespace autopar::model;
using namespace autopar::report;
using namespace autopar::search;
using namespace autopar::server;
using namespace autopar::session;
using namespace autopar::writing;
using Json = nlohmann::ordered_json;

/// Returns the request for the bundled model called `name`; the name may end
/// with a colon and a format.
static Result<ModelRequest> bundled(const std::string &name) {
  if (!llvm::is_contained(bundledModels(), name.substr(0, name.find(':'))))
    return Error{pathName, "no model is called \"" + shorten(name) + "\"",
                 "GET /models"};
  ModelRequest request;
  request.argument = name;
  request.hub.offline = true;
  return request;
}

static const std::vector<std::string> cacheFormats = {"bf16", "fp8"};

Answer autopar::server::listModels(Session &session, const Call &call) {
  Json models = Json::array();
  for (const std::string &name : bundledModels())
    models.push_back({{"id", name}, {"href", "/models/" + name}});
  return Json{{"models", models}}.dump();
}

Answer autopar::server::showModel(Session &session, const Call &call) {
  Result<ModelRequest> request = bundled(call.id);
  if (!request)
    return request.error();
  Result<ModelReport> model = session.describe(*request, cacheFormats);
  if (!model)
    return model.error();
  return writeJson(*model);
}

Answer autopar::server::listFormats(Session &session, const Call &call) {
  return Json{{"weights", weightFormatNames()}, {"kv_cache", cacheFormats}}
      .dump();
}

Answer autopar::server::listLayers(Session &session, const Call &call) {
  Result<ModelRequest> request = bundled(parameterOf(call.request, "model"));
  if (!request)
    return request.error();
  Result<ModelReport> model = session.describe(*request);
  if (!model)
    return model.error();
  Json layers = Json::array();
  for (const ModelReport::LayerKind &kind : model->layers)
    layers.push_back({{"name", kind.name}, {"count", kind.count}});
  return Json{{"model", request->argument},
              {"pattern", model->pattern},
              {"layers", layers}}
      .dump();
}

Answer autopar::server::importModel(Session &session, const Call &call) {
  call.body.allowOnly({"model", "config", "module", "weight_format"});
  Result<ModelRequest> request = readModel(session, call.body);
  if (!request)
    return request.error();
  Result<ModelReport> model = session.describe(*request, cacheFormats);
  if (!model)
    return model.error();
  Result<std::string> module = session.import(*request);
  if (!module)
    return module.error();
  return "{\"model\": " + writeJson(*model) +
         ", \"module\": " + jsonString(*module) + "}";
}
