//===- WeightFormat.h - Models as others quantise them ----------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// models/weight_formats/*.json: which quantization_config a model gets where it
// is published in a format.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_MODEL_WEIGHTFORMAT_H
#define AUTOPAR_MODEL_WEIGHTFORMAT_H

#include "autopar/Support/Json.h"

#include <string>
#include <vector>

namespace autopar::model {

/// Returns the names of all weight formats, sorted: "awq-4", "bf16", ...
std::vector<std::string> weightFormatNames();

/// Changes `config` so that it states that the weights are in `format`,
/// whatever it stated before. `format` is a file, or a name of
/// `weightFormatNames` (case does not matter, `_` may stand for `-`) or another
/// word for it. Errors: no such format, a word that stands for several.
std::optional<Error> setWeightFormat(JsonDocument &config,
                                     const std::string &format);

} // namespace autopar::model

#endif // AUTOPAR_MODEL_WEIGHTFORMAT_H
