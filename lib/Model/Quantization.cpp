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

using namespace autopar;

Quantization::Quantization() = default;
Quantization::Quantization(Quantization &&) = default;
Quantization &Quantization::operator=(Quantization &&) = default;
Quantization::~Quantization() = default;

struct Quantization::Rules : QuantizationRules {
  /// The scheme that names `module`, else the default.
  const QuantizationScheme *schemeOf(std::string_view module) {
    const QuantizationScheme *found = nullptr;
    for (const QuantizationScheme &scheme : schemes) {
      if (scheme.targets.matches(module, steps))
        return &scheme;
      if (scheme.isDefault && !found)
        found = &scheme;
    }
    return found;
  }
};

/// Whether `scheme` is of 8-bit floats.
static bool isFp8Scheme(const nlohmann::json &scheme) {
  if (!scheme.is_object())
    return false;
  auto type = scheme.find("type"), bits = scheme.find("num_bits");
  return type != scheme.end() && bits != scheme.end() && *type == "float" &&
         *bits == 8;
}

/// ModelOpt writes "FP8", compressed-tensors a scheme; null is none.
static std::optional<ElementType> readCacheFormat(const JsonReader &settings) {
  for (const char *key : {"kv_cache_quant_algo", "kv_cache_scheme"}) {
    if (!settings.has(key))
      continue;
    nlohmann::json value = settings.member(key).toJson();
    if (value == "FP8" || isFp8Scheme(value))
      return ElementType::fp8_e4m3;
    settings.failAt(key,
                    "unknown format of the KV cache " + shorten(value.dump()),
                    "known: \"FP8\", and schemes of 8-bit floats; null: that "
                    "of the activations");
    return std::nullopt;
  }
  return std::nullopt;
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
  result.cacheFormat = readCacheFormat(**settings);
  if ((*settings)->failed())
    return (*settings)->takeError();
  if (result.cacheFormat)
    notes.defaults.push_back({"KV cache",
                              std::string(nameOf(*result.cacheFormat)),
                              "the checkpoint's settings; set with "
                              "--kv-format"});
  result.rules = std::make_unique<Rules>();
  result.rules->where = config.name();
  if (auto error =
          readQuantization(**settings, inOwnFile, notes, *result.rules))
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
    found = rules->schemeOf(module);
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
    if (scheme.targets.dependsOnLayer())
      return true;
  return rules->skipped.dependsOnLayer();
}

bool Quantization::splitsExperts() const {
  return rules && rules->splitsExperts;
}
