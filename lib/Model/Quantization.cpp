//===- Quantization.cpp ---------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Model/Quantization.h"

#include "ModulePatterns.h"
#include "QuantizationReader.h"

#include "autopar/Support/Limits.h"
#include "autopar/Support/Text.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>

using namespace autopar;
using namespace autopar::model;
using namespace autopar::program;

Quantization::Quantization() = default;
Quantization::Quantization(Quantization &&) = default;
Quantization &Quantization::operator=(Quantization &&) = default;
Quantization::~Quantization() = default;

struct Quantization::Rules : QuantizationRules {
  /// Returns the first scheme that names `module`; if none does, the default
  /// scheme.
  const QuantizationScheme *schemeOf(std::string_view module, WeightRole role) {
    const QuantizationScheme *found = nullptr;
    for (const QuantizationScheme &scheme : schemes) {
      if (scheme.names(module, role, steps))
        return &scheme;
      if (scheme.isDefault && !found)
        found = &scheme;
    }
    return found;
  }
};

/// Returns the layer of a module: the first part of its name that is a number;
/// nothing if there is none.
static std::optional<size_t> layerOf(std::string_view module) {
  for (size_t begin = 0; begin < module.size();) {
    size_t end = std::min(module.find('.', begin), module.size());
    std::string_view part = module.substr(begin, end - begin);
    size_t number = 0;
    auto [stop, problem] =
        std::from_chars(part.data(), part.data() + part.size(), number);
    if (problem == std::errc() && stop == part.data() + part.size())
      return number;
    begin = end + 1;
  }
  return std::nullopt;
}

bool QuantizationScheme::names(std::string_view module, WeightRole role,
                               uint64_t &steps) const {
  if (!roles.empty() && roles.find(role) == roles.end())
    return false;
  if (layers) {
    std::optional<size_t> layer = layerOf(module);
    if (!layer || *layer >= layers->size() || !(*layers)[*layer])
      return false;
  }
  return targets.empty() ? !roles.empty() : targets.matches(module, steps);
}

/// Whether the settings `scheme` describe 8-bit floats.
static bool isFp8Scheme(const nlohmann::json &scheme) {
  if (!scheme.is_object())
    return false;
  auto type = scheme.find("type"), bits = scheme.find("num_bits");
  return type != scheme.end() && bits != scheme.end() && *type == "float" &&
         *bits == 8;
}

/// Whether Quark's settings of projections state that their outputs, the keys
/// and values, are 8-bit floats.
static bool hasFp8Outputs(const nlohmann::json &projections) {
  return projections.is_object() &&
         std::any_of(projections.begin(), projections.end(),
                     [](const nlohmann::json &one) {
                       nlohmann::json::json_pointer type(
                           "/output_tensors/dtype");
                       return one.contains(type) && one[type] == "fp8_e4m3";
                     });
}

/// Returns the KV-cache format that a member of the settings states; nothing if
/// it is not known.
static std::optional<ElementType> cacheFormatIn(const nlohmann::json &value) {
  if (value == "FP8" || isFp8Scheme(value) || hasFp8Outputs(value))
    return ElementType::fp8_e4m3;
  return value == "NVFP4" ? std::optional(ElementType::nvfp4) : std::nullopt;
}

/// Returns the KV-cache format in the settings: ModelOpt writes "FP8",
/// compressed-tensors a scheme, Quark the outputs of projections. Null means
/// none.
static std::optional<ElementType> readCacheFormat(const JsonReader &settings) {
  for (const char *key :
       {"kv_cache_quant_algo", "kv_cache_scheme", "kv_cache_quant_config"}) {
    if (!settings.has(key))
      continue;
    nlohmann::json value = settings.member(key).toJson();
    // Quark writes {} if KV caches are not quantised.
    if (value.is_object() && value.empty())
      continue;
    if (std::optional<ElementType> format = cacheFormatIn(value))
      return format;
    settings.failAt(key,
                    "unknown format of the KV cache " + shorten(value.dump()),
                    "known: \"FP8\", \"NVFP4\", and schemes of 8-bit floats; "
                    "null: that of the activations");
    return std::nullopt;
  }
  return std::nullopt;
}

/// Returns the KV-cache format in the settings or, if they state none, in the
/// separate file: ModelOpt writes it into hf_quant_config.json, and not always
/// into the config.
static Result<std::optional<ElementType>>
findCacheFormat(const JsonReader &settings, const JsonDocument *file) {
  std::optional<ElementType> format = readCacheFormat(settings);
  if (settings.failed())
    return settings.takeError();
  if (format || !file)
    return format;
  Result<std::optional<JsonReader>> beside = findSettingsOfFile(file->reader());
  if (!beside)
    return beside.error();
  format = readCacheFormat(**beside);
  if ((*beside)->failed())
    return (*beside)->takeError();
  return format;
}

Result<Quantization> Quantization::read(const JsonDocument &config,
                                        const JsonDocument *file,
                                        ModelNotes &notes) {
  Quantization result;
  Result<std::optional<JsonReader>> settings = findSettings(config.reader());
  bool inOwnFile = settings && !*settings && file;
  if (inOwnFile)
    settings = findSettingsOfFile(file->reader());
  if (!settings)
    return settings.error();
  if (!*settings)
    return result;
  Result<std::optional<ElementType>> cache = findCacheFormat(**settings, file);
  if (!cache)
    return cache.error();
  result.cacheFormat = *cache;
  if (result.cacheFormat)
    notes.defaults.push_back({cacheFormatDefault,
                              std::string(nameOf(*result.cacheFormat)),
                              "stated by the checkpoint; set with "
                              "--kv-format"});
  result.rules = std::make_unique<Rules>();
  result.rules->where = config.name();
  if (auto error = readQuantization(**settings, inOwnFile, config.reader(),
                                    notes, *result.rules))
    return *error;
  return result;
}

Result<const Format *> Quantization::formatOf(std::string_view module,
                                              WeightRole role,
                                              bool inLayer) const {
  const Format *none = nullptr;
  if (!rules || (rules->layersOnly && !inLayer && role != WeightRole::head) ||
      rules->roles.find(role) == rules->roles.end())
    return none;
  uint64_t &steps = rules->steps;
  const QuantizationScheme *found = nullptr;
  if (!rules->skipped.matches(module, steps))
    found = rules->schemeOf(module, role);
  if (steps > limits::maxPatternSteps)
    return Error{rules->where,
                 "there are too many modules to compare with the patterns of "
                 "the quantization settings",
                 ""};
  return found && found->format ? &*found->format : none;
}

bool Quantization::dependsOnLayer() const {
  if (!rules)
    return false;
  for (const QuantizationScheme &scheme : rules->schemes)
    if (scheme.layers || scheme.targets.dependsOnLayer())
      return true;
  return rules->skipped.dependsOnLayer();
}

bool Quantization::splitsExperts() const {
  return rules && rules->splitsExperts;
}
