//===- Family.h - What a model type means -----------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_MODEL_FAMILY_H
#define AUTOPAR_MODEL_FAMILY_H

#include "autopar/Model/ModelConfig.h"

#include <string_view>

namespace autopar {

/// A model type as data: what `transformers` fills in for absent fields of its
/// config class, which parts its layers have, and what its tensors are called.
struct Family {
  std::string_view modelType;
  /// Default of `num_key_value_heads`; 0: `num_attention_heads`.
  int64_t kvHeads = 0;
  /// Default of `head_dim`; 0: `hidden_size / num_attention_heads`.
  int64_t headDim = 0;
  double normEps = 1e-6;
  double ropeTheta = 10000;
  /// q, k and v always have biases, whatever the config says.
  bool inputBias = false;
  /// `attention_bias` gives biases to q, k, v and o (absent: none).
  bool attentionBiasKey = false;
  /// `mlp_bias` gives biases to the feed-forward part (absent: none).
  bool mlpBiasKey = false;
  bool qkNorm = false;
  /// Default of `sliding_window`; 0: none.
  int64_t window = 0;
  /// The window counts only with `use_sliding_window`, from layer
  /// `max_window_layers` on.
  bool windowIsOptional = false;
  /// Key of the number of experts; empty: a dense model.
  std::string_view expertsKey;
  /// Key of an expert's width.
  std::string_view expertWidthKey;
  /// `decoder_sparse_step` and `mlp_only_layers` say which layers are dense.
  bool hasDenseLayers = false;
  ExpertNames expertNames;
  /// Where the defaults come from.
  std::string_view source;
};

/// The family of `modelType`, null where it is not supported.
const Family *findFamily(std::string_view modelType);
std::vector<std::string> supportedModelTypes();

} // namespace autopar

#endif // AUTOPAR_MODEL_FAMILY_H
