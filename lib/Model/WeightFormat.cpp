//===- WeightFormat.cpp ---------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Model/WeightFormat.h"

#include "autopar/Support/File.h"
#include "autopar/Support/Library.h"
#include "autopar/Support/Text.h"

#include <nlohmann/json.hpp>

#include <algorithm>

using namespace autopar;
using namespace autopar::model;

static std::string directory() {
  return dataDirectory("models") + "/weight_formats";
}

/// Returns a format's name in its usual spelling: "q4-k-m" for "Q4_K_M". A path
/// is not changed.
static std::string canonical(std::string_view name) {
  std::string text(name);
  if (isPath(text))
    return text;
  for (char &c : text)
    c = c == '_' ? '-' : char(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

std::vector<std::string> autopar::model::weightFormatNames() {
  return namesIn(directory());
}

/// Whether `variant` of a format applies to models with this config.
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

/// Returns the formats whose files list `name` under "also".
static std::vector<std::string> formatsCalled(const std::string &name) {
  std::vector<std::string> found;
  for (const std::string &candidate : weightFormatNames()) {
    Result<JsonDocument> document =
        JsonDocument::readFile(directory() + "/" + candidate + ".json");
    if (!document || !document->reader().has("also"))
      continue;
    std::vector<std::string> also = document->reader().strings("also");
    if (std::find(also.begin(), also.end(), name) != also.end())
      found.push_back(candidate);
  }
  return found;
}

/// Returns the path of the file of `format`. Errors: a word for several
/// formats, an unknown one.
static Result<std::string> findFormat(const std::string &format) {
  std::string name = canonical(format);
  std::vector<std::string> called;
  if (!isPath(name))
    called = formatsCalled(name);
  if (called.size() > 1)
    return Error{
        "", "weight format \"" + shorten(format) + "\" may be one of several",
        "say which: " + join(called, ", ")};
  return locateFile(called.empty() ? name : called.front(), directory(),
                    "weight format");
}

std::optional<Error>
autopar::model::setWeightFormat(JsonDocument &config,
                                const std::string &format) {
  Result<std::string> file = findFormat(format);
  if (!file)
    return file.error();
  Result<JsonDocument> document = JsonDocument::readFile(*file);
  if (!document)
    return document.error();
  if (!config.reader().isObject())
    return std::nullopt;
  JsonReader reader = document->reader();
  reader.allowOnly({"title", "source", "also", "quantization_config", "where"});
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
