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

/// "awq-4", "bf16", ...: sorted.
std::vector<std::string> weightFormatNames();

/// Has `config` say that its weights are in `format`, one of them (in capitals
/// or not, `_` may stand for `-`; also by another word of its file) or a file,
/// whatever it said before. Errors: no such format, a word for several.
std::optional<Error> setWeightFormat(JsonDocument &config,
                                     const std::string &format);

} // namespace autopar::model

#endif // AUTOPAR_MODEL_WEIGHTFORMAT_H
