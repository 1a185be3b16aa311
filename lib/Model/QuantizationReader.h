//===- QuantizationReader.h - Settings under a method's file ----*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_MODEL_QUANTIZATIONREADER_H
#define AUTOPAR_LIB_MODEL_QUANTIZATIONREADER_H

#include "ModulePatterns.h"
#include "autopar/Model/Quantization.h"

namespace autopar::model {

/// The modules of a model that have the same quantisation format.
struct QuantizationScheme {
  /// Patterns for names of modules; if there are none, the scheme has all
  /// modules with one of `roles`.
  ModulePatterns targets;
  /// Roles of the weights that the scheme has; empty: any role.
  std::set<WeightRole> roles;
  /// For each layer, by its number, whether the scheme applies to it; absent:
  /// it applies to all.
  std::optional<std::vector<bool>> layers;
  /// Whether the scheme applies to all modules that no other scheme names.
  bool isDefault = false;
  /// The format of the weights; nothing if they are not quantised.
  std::optional<Format> format;

  /// Whether the scheme applies to the weight of `module`. Adds the work of
  /// matching to `steps`.
  bool names(std::string_view module, WeightRole role, uint64_t &steps) const;
};

struct QuantizationRules {
  std::vector<QuantizationScheme> schemes;
  ModulePatterns skipped;
  std::set<WeightRole> roles;
  /// Whether only modules in repeated layers are quantised.
  bool layersOnly = false;
  bool splitsExperts = false;
  /// The name of the config, for messages.
  std::string where;
  /// The number of steps that matching patterns has taken so far.
  uint64_t steps = 0;
};

/// Finds the quantisation settings in a config; nothing if it has none.
Result<std::optional<JsonReader>> findSettings(const JsonReader &config);
/// Finds the quantisation settings in a file of their own.
Result<std::optional<JsonReader>> findSettingsOfFile(const JsonReader &file);
/// Reads settings into `rules`. `inOwnFile` says that the settings are a file
/// of their own. A field "outer.<key>" of the method is a key of `config`.
std::optional<Error> readQuantization(const JsonReader &settings,
                                      bool inOwnFile, const JsonReader &config,
                                      ModelNotes &notes,
                                      QuantizationRules &rules);

} // namespace autopar::model

#endif // AUTOPAR_LIB_MODEL_QUANTIZATIONREADER_H
