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

namespace autopar {

/// Modules in one format.
struct QuantizationScheme {
  ModulePatterns targets;
  /// All that no other scheme names are its own.
  bool isDefault = false;
  /// Nothing: they are not quantized.
  std::optional<Format> format;
};

struct QuantizationRules {
  std::vector<QuantizationScheme> schemes;
  ModulePatterns skipped;
  std::set<WeightRole> roles;
  /// Only modules of repeated layers.
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
/// `inOwnFile`: the settings are a file of their own.
std::optional<Error> readQuantization(const JsonReader &settings,
                                      bool inOwnFile, ModelNotes &notes,
                                      QuantizationRules &rules);

} // namespace autopar

#endif // AUTOPAR_LIB_MODEL_QUANTIZATIONREADER_H
