//===- ModelConfig.h - A Hugging Face config, checked -----------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_MODEL_MODELCONFIG_H
#define AUTOPAR_MODEL_MODELCONFIG_H

#include "autopar/Support/ElementType.h"
#include "autopar/Support/Json.h"

#include <optional>
#include <string>
#include <vector>

namespace autopar {

/// Attention of one layer kind.
struct AttentionConfig {
  int64_t heads = 0, kvHeads = 0, headDim = 0;
  /// Biases of the q, k, v projections, and of the output projection.
  bool inputBias = false, outputBias = false;
  /// RMS norms of queries and keys over `headDim`.
  bool qkNorm = false;
  /// Last tokens that are seen; 0: all.
  int64_t window = 0;
  double ropeTheta = 0;
  std::string ropeScaling;
};

/// Feed-forward part of one layer kind: dense where `experts` is 0.
struct FeedForwardConfig {
  int64_t intermediate = 0;
  bool bias = false;
  int64_t experts = 0, topK = 0;
};

/// Names of the tensors of a mixture of experts, below the layer.
struct ExpertNames {
  std::string_view router, gate, up, down;
};

/// Layers that are equal but for their numbers.
struct LayerConfig {
  std::string name;
  AttentionConfig attention;
  FeedForwardConfig feedForward;
};

/// A decoder model with every field known.
struct ModelConfig {
  std::string name, modelType;
  ElementType dtype = ElementType::bf16;
  int64_t hidden = 0, vocabulary = 0;
  double normEps = 0;
  /// "silu", "gelu", ...: names of `transformer.gated`.
  std::string activation;
  bool tiedEmbeddings = false;
  ExpertNames expertNames;
  std::vector<LayerConfig> kinds;
  /// Index into `kinds`, by layer.
  std::vector<uint32_t> layers;
  /// Defaults of the model type that were used: "head_dim = 128".
  std::vector<std::string> defaults;
};

/// Reads a config.json of a supported model type. Errors name the field: a
/// missing one without a default in `transformers`, a wrong type or range, an
/// unknown model type, a quantised checkpoint. A model without a name is called
/// after its type.
Result<ModelConfig> readModelConfig(const JsonDocument &document,
                                    std::string name);

} // namespace autopar

#endif // AUTOPAR_MODEL_MODELCONFIG_H
