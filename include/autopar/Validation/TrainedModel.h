//===- TrainedModel.h - Configs of models by their sizes --------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tables of training state sizes, from which importers need a config. The
// family is chosen by the layers:
//   gated                  llama; with experts mixtral, qwen3_moe (heads of
//                          another size than hidden / heads), qwen2_moe (shared
//                          experts)
//   not gated              gpt2: biases, LayerNorm, learned positions
//                          starcoder2, if heads share keys and values
//   called BLOOM           bloom: ALiBi, a norm behind the embedding
//   called Nemotron        nemotron: squared ReLU, no biases
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_VALIDATION_TRAINEDMODEL_H
#define AUTOPAR_VALIDATION_TRAINEDMODEL_H

#include "autopar/Support/Json.h"
#include "autopar/Validation/TrainingRow.h"

namespace autopar::validation {

struct TrainedConfig {
  /// The text of a config.json.
  std::string json;
  /// Sizes that the row does not state, with the assumed values.
  std::vector<std::string> assumed;
};

/// Errors: sizes that are needed and not stated, layers of no family.
Result<TrainedConfig> trainedConfigOf(const TrainingRow &row);

/// Whether `config` is of a model with the layers, the heads, the vocabulary
/// and the experts that `sizes` states.
bool hasSizes(const JsonDocument &config, const TrainedArchitecture &sizes);

} // namespace autopar::validation

#endif // AUTOPAR_VALIDATION_TRAINEDMODEL_H
