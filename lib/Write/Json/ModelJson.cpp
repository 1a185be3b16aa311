//===- ModelJson.cpp ------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Write/Json.h"

#include "autopar/Report/ModelReport.h"

#include "autopar/Support/JsonText.h"

using namespace autopar;
using namespace autopar::report;
using namespace autopar::writing;
using json = nlohmann::ordered_json;

static json writeParts(const ModelReport &model) {
  json all = json::array();
  for (const ModelReport::Part &part : model.parts)
    all.push_back({{"name", part.name},
                   {"parameters", writeInteger(part.parameters)},
                   {"active_parameters", writeInteger(part.active)},
                   {"bytes", writeInteger(part.bytes)}});
  return all;
}

static json writeLayers(const ModelReport &model) {
  json kinds = json::array();
  for (const ModelReport::LayerKind &layer : model.layers)
    kinds.push_back({{"name", layer.name}, {"count", layer.count}});
  return {{"pattern", model.pattern}, {"kinds", std::move(kinds)}};
}

static json byFormat(const ModelReport &model,
                     const std::vector<Checked> &bytes) {
  json all = json::object();
  for (size_t i = 0; i < bytes.size(); ++i)
    all[model.kvFormats[i]] = writeInteger(bytes[i]);
  return all;
}

static json writeCaches(const ModelReport &model) {
  json kinds = json::array(), sizes = json::array();
  std::vector<Checked> all(model.kvFormats.size());
  for (const ModelReport::Cache &cache : model.caches) {
    kinds.push_back(
        {{"layer", cache.layer},
         {"op", cache.op},
         {"layers", cache.layers},
         {"window", cache.window},
         {"chunk", cache.chunk},
         {"bytes_per_token", byFormat(model, cache.bytesPerToken)}});
    for (size_t i = 0; i < all.size(); ++i)
      all[i] += cache.bytesPerToken[i];
  }
  for (const ModelReport::CacheSize &size : model.cacheSizes)
    sizes.push_back(
        {{"context", size.context}, {"bytes", byFormat(model, size.bytes)}});
  return {{"bytes_per_token", byFormat(model, all)},
          {"kinds", std::move(kinds)},
          {"bytes_per_sequence", std::move(sizes)},
          {"bytes_per_source_token", writeInteger(model.memoryBytesPerToken)}};
}

static json writeFlops(const ModelReport::Flops &flops) {
  return {{"linear", writeInteger(flops.linear)},
          {"attention", writeInteger(flops.attention)},
          {"recurrence", writeInteger(flops.recurrence)},
          {"logits", writeInteger(flops.logits)},
          {"total", writeInteger(flops.total())}};
}

static json writeAllFlops(const ModelReport &model) {
  json all = json::array();
  for (const ModelReport::FlopsAt &at : model.flops)
    all.push_back({{"context", at.context},
                   {"prefill", writeFlops(at.prefill)},
                   {"decode", at.decode ? writeFlops(*at.decode) : json()}});
  return all;
}

std::string autopar::writing::writeJson(const ModelReport &model) {
  json root;
  root["schema"] = "autopar.model/1";
  root["name"] = model.name;
  root["parameters"] = writeInteger(model.parameters);
  root["active_parameters"] = writeInteger(model.activeParameters);
  root["stored_only_parameters"] = writeInteger(model.storedOnlyParameters);
  root["checkpoint_bytes"] = writeInteger(model.checkpointBytes);
  root["context_length"] = model.contextLength;
  root["parts"] = writeParts(model);
  root["layers"] = writeLayers(model);
  root["kv_cache"] = writeCaches(model);
  root["state_bytes_per_sequence"] = writeInteger(model.stateBytesPerSequence);
  root["flops"] = writeAllFlops(model);
  root["flops_leave_out_source"] = model.hasSource;
  root["fields"] = json::object();
  for (const auto &[name, value] : model.fields)
    root["fields"][name] = value;
  root["defaults"] = model.defaults;
  return printJson(root);
}
