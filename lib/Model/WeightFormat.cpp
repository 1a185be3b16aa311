//===- WeightFormat.cpp ---------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Model/WeightFormat.h"

#include "autopar/Support/File.h"
#include "autopar/Support/Library.h"

#include <nlohmann/json.hpp>

#include <algorithm>

using namespace autopar;

static std::string directory() {
  return dataDirectory("models") + "/weight_formats";
}

/// A path is what it says.
static std::string canonical(std::string_view name) {
  std::string text(name);
  if (!isPath(text))
    std::replace(text.begin(), text.end(), '_', '-');
  return text;
}

std::vector<std::string> autopar::weightFormatNames() {
  return namesIn(directory());
}

/// Whether `variant` is for models with this config.
static bool isFor(const JsonReader &variant, const JsonReader &config) {
  if (variant.has("has"))
    return config.has(variant.string("has"));
  return config.has("model_type") &&
         config.member("model_type").toJson() == variant.string("model_type");
}

static nlohmann::json settingsOf(const JsonReader &format,
                                 const JsonReader &config) {
  if (format.has("where"))
    for (const JsonReader &variant : format.array("where").elements()) {
      variant.allowOnly({"has", "model_type", "quantization_config"});
      if (isFor(variant, config))
        return variant.object("quantization_config").toJson();
    }
  return format.has("quantization_config")
             ? format.object("quantization_config").toJson()
             : nlohmann::json();
}

std::optional<Error> autopar::setWeightFormat(JsonDocument &config,
                                              const std::string &format) {
  Result<std::string> file =
      locateFile(canonical(format), directory(), "weight format");
  if (!file)
    return file.error();
  Result<JsonDocument> document = JsonDocument::readFile(*file);
  if (!document)
    return document.error();
  if (!config.reader().isObject())
    return std::nullopt;
  JsonReader reader = document->reader();
  reader.allowOnly({"title", "source", "quantization_config", "where"});
  nlohmann::json settings = settingsOf(reader, config.reader());
  if (reader.failed())
    return reader.takeError();
  nlohmann::json root = config.toJson();
  for (nlohmann::json *place : {&root, &root["text_config"]})
    if (place->is_object())
      for (const char *key :
           {"quantization_config", "compression_config", "quantization"})
        place->erase(key);
  if (root["text_config"].is_null())
    root.erase("text_config");
  if (!settings.is_null())
    root["quantization_config"] = std::move(settings);
  config.set(root);
  return std::nullopt;
}
