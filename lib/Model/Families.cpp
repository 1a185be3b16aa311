//===- Families.cpp - The supported model types ---------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Defaults are those of the configuration classes of Hugging Face transformers
// (src/transformers/models/<type>/configuration_<type>.py, release 4.51).
// Sizes that have a default there but no sensible one (hidden_size, ...) are
// required here: no model is what a forgotten field would make it.
//
//===----------------------------------------------------------------------===//

#include "autopar/Model/Family.h"

using namespace autopar;

static Family llama() {
  Family family;
  family.modelType = "llama";
  family.attentionBiasKey = true;
  family.mlpBiasKey = true;
  family.source = "LlamaConfig";
  return family;
}

static Family mistral() {
  Family family;
  family.modelType = "mistral";
  family.kvHeads = 8;
  family.window = 4096;
  family.source = "MistralConfig";
  return family;
}

static Family qwen2() {
  Family family;
  family.modelType = "qwen2";
  family.kvHeads = 32;
  family.inputBias = true;
  family.windowIsOptional = true;
  family.source = "Qwen2Config";
  return family;
}

static Family qwen3() {
  Family family;
  family.modelType = "qwen3";
  family.kvHeads = 32;
  family.headDim = 128;
  family.attentionBiasKey = true;
  family.qkNorm = true;
  family.windowIsOptional = true;
  family.source = "Qwen3Config";
  return family;
}

static Family mixtral() {
  Family family;
  family.modelType = "mixtral";
  family.kvHeads = 8;
  family.normEps = 1e-5;
  family.ropeTheta = 1e6;
  family.expertsKey = "num_local_experts";
  family.expertWidthKey = "intermediate_size";
  family.expertNames = {"block_sparse_moe.gate.weight",
                        "block_sparse_moe.experts.*.w1.weight",
                        "block_sparse_moe.experts.*.w3.weight",
                        "block_sparse_moe.experts.*.w2.weight"};
  family.source = "MixtralConfig";
  return family;
}

static Family qwen3Moe() {
  Family family;
  family.modelType = "qwen3_moe";
  family.kvHeads = 4;
  family.attentionBiasKey = true;
  family.qkNorm = true;
  family.windowIsOptional = true;
  family.expertsKey = "num_experts";
  family.expertWidthKey = "moe_intermediate_size";
  family.hasDenseLayers = true;
  family.expertNames = {"mlp.gate.weight", "mlp.experts.*.gate_proj.weight",
                        "mlp.experts.*.up_proj.weight",
                        "mlp.experts.*.down_proj.weight"};
  family.source = "Qwen3MoeConfig";
  return family;
}

static const std::vector<Family> &families() {
  static const std::vector<Family> all = {llama(), mistral(), qwen2(),
                                          qwen3(), mixtral(), qwen3Moe()};
  return all;
}

const Family *autopar::findFamily(std::string_view modelType) {
  for (const Family &family : families())
    if (family.modelType == modelType)
      return &family;
  return nullptr;
}

std::vector<std::string> autopar::supportedModelTypes() {
  std::vector<std::string> names;
  for (const Family &family : families())
    names.emplace_back(family.modelType);
  return names;
}
