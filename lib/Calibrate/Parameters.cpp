//===- Parameters.cpp -----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Calibrate/Parameters.h"

#include "autopar/Support/File.h"
#include "autopar/Support/Library.h"
#include "autopar/Support/Words.h"

#include <nlohmann/json.hpp>

#include <map>

using namespace autopar;
using namespace autopar::calibration;
using nlohmann::json;

/// Returns the value of the figure at `keys` from the second on; nothing if
/// there is none above 0.
static std::optional<double> valueIn(const json &file,
                                     const std::vector<std::string> &keys) {
  const json *value = &file;
  for (size_t i = 2; i < keys.size() && value; ++i) {
    const json *inside = nullptr;
    if (value->is_object() && value->contains(keys[i]))
      inside = &(*value)[keys[i]];
    if (value->is_array())
      for (const json &element : *value)
        if (element.is_object() && element.value("name", "") == keys[i])
          inside = &element;
    value = inside;
  }
  if (!value || !value->is_object() || !value->contains("value"))
    return std::nullopt;
  double number = value->at("value").get<double>();
  return number > 0 ? std::optional(number) : std::nullopt;
}

/// Whether a variant of a runtime replaces the figure `key`.
static bool isReplaced(const json &file, const std::string &key) {
  for (const json &variant : file.value("variants", json::array()))
    if (variant.value("figures", json::object()).contains(key))
      return true;
  return false;
}

/// Returns the library file of an owner: "chips.h100-sxm" is
/// hardware/chips/h100-sxm.json.
static Result<json> readOwner(const std::string &owner) {
  size_t dot = owner.find('.');
  std::string kind = owner.substr(0, dot), name = owner.substr(dot + 1);
  std::string folder = kind == "runtimes"
                           ? dataDirectory("runtimes")
                           : dataDirectory("hardware") + "/" + kind;
  Result<JsonDocument> document =
      JsonDocument::readFile(folder + "/" + name + ".json");
  if (!document)
    return document.error();
  return document->toJson();
}

Result<std::vector<Parameter>>
calibration::parametersOf(const std::set<std::string> &owners) {
  std::map<std::string, json> files;
  for (const std::string &owner : owners) {
    Result<json> file = readOwner(owner);
    if (!file)
      return file.error();
    if (file->contains("chip") && file->at("chip").is_string()) {
      std::string chip = "chips." + file->at("chip").get<std::string>();
      Result<json> own = readOwner(chip);
      if (!own)
        return own.error();
      files[chip] = std::move(*own);
    }
    files[owner] = std::move(*file);
  }
  Result<JsonDocument> document = JsonDocument::readFile(
      dataDirectory("runtimes") + "/calibration/parameters.json");
  if (!document)
    return document.error();
  JsonReader reader = document->reader();
  checkSchema(reader, "autopar.calibration_parameters/1");
  std::vector<Parameter> parameters;
  for (const JsonReader &one : reader.array("parameters").elements()) {
    std::string path = one.string("path");
    std::vector<std::string> keys = wordsOf(path, ".");
    for (const auto &[owner, file] : files) {
      std::vector<std::string> own = wordsOf(owner, ".");
      if (keys.size() < 3 || own.front() != keys.front() ||
          isReplaced(file, keys.back()))
        continue;
      std::optional<double> today = valueIn(file, keys);
      if (!today)
        continue;
      std::string at = path;
      at.replace(at.find('*'), 1, owner.substr(owner.find('.') + 1));
      parameters.push_back(
          {at, one.string("what"), *today, one.number("spread", 1e-6, 10),
           one.optionalNumber("most", 0, 1e18), one.string("measure")});
    }
  }
  if (reader.failed())
    return reader.takeError();
  return parameters;
}
