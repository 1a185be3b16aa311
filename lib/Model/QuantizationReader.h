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

/// Modules in one format.
struct QuantizationScheme {
  /// Modules by name; none: all that have one of `roles`.
  ModulePatterns targets;
  /// Roles that weights of the scheme have; empty: any.
  std::set<WeightRole> roles;
  /// By number, whether a layer has the scheme; absent: all modules do.
  std::optional<std::vector<bool>> layers;
  /// All that no other scheme names are its own.
  bool isDefault = false;
  /// Nothing: they are not quantized.
  std::optional<Format> format;

  /// Whether the scheme names the weight of `module`. `steps` counts the work.
  bool names(std::string_view module, WeightRole role, uint64_t &steps) const;
};

struct QuantizationRules {
  std::vector<QuantizationScheme> schemes;
  ModulePatterns skipped;
  std::set<WeightRole> roles;
  /// Whether only modules of repeated layers are quantised.
  bool layersOnly = false;
  bool splitsExperts = false;
  /// The config, for messages.
  std::string where;
  /// Work done so far.
  uint64_t steps = 0;
};

/// The settings of a model; nothing where it is not quantized.
Result<std::optional<JsonReader>> findSettings(const JsonReader &config);
/// The settings in a file of their own.
Result<std::optional<JsonReader>> findSettingsOfFile(const JsonReader &file);
/// `inOwnFile`: the settings are a file of their own. "outer.<key>" of the
/// method's fields is a key of `config`.
std::optional<Error> readQuantization(const JsonReader &settings,
                                      bool inOwnFile, const JsonReader &config,
                                      ModelNotes &notes,
                                      QuantizationRules &rules);

} // namespace autopar::model

#endif // AUTOPAR_LIB_MODEL_QUANTIZATIONREADER_H
