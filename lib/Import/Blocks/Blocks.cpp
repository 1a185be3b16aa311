//===- Blocks.cpp - Block kinds by name -----------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Blocks.h"

using namespace autopar;
using namespace autopar::importer;

static const std::pair<llvm::StringRef, BlockBuilder> builders[] = {
    {"embedding", buildEmbedding},
    {"token_ids", buildTokenIds},
    {"position_embedding", buildPositionEmbedding},
    {"patch_embedding", buildPatchEmbedding},
    {"convolution", buildConvolution},
    {"channel_convolution", buildChannelConvolution},
    {"input", buildInput},
    {"tensors", buildTensors},
    {"weight", buildWeight},
    {"unplaced", buildUnplaced},
    {"insert", buildInsert},
    {"gated", buildGated},
    {"layer_part", buildLayerPart},
    {"merge_tokens", buildMergeTokens},
    {"last_token", buildLastToken},
    {"head", buildHead},
    {"rms_norm", buildRMSNorm},
    {"layer_norm", buildLayerNorm},
    {"batch_norm", buildBatchNorm},
    {"linear", buildLinear},
    {"activation", buildActivation},
    {"softmax", buildSoftmax},
    {"scale", buildScale},
    {"softcap", buildSoftcap},
    {"attention", buildAttention},
    {"latent_attention", buildLatentAttention},
    {"compressed_attention", buildCompressedAttention},
    {"feed_forward", buildFeedForward},
    {"experts", buildExperts},
    {"mamba", buildMamba},
    {"mamba2", buildMamba2},
    {"delta_net", buildDeltaNet},
    {"kimi_delta", buildKimiDelta},
    {"short_conv", buildShortConv},
    {"linear_attention", buildLinearAttention},
    {"hyper_expand", buildHyperExpand},
    {"hyper_pre", buildHyperPre},
};

BlockBuilder autopar::importer::findBlockBuilder(llvm::StringRef kind) {
  for (const auto &[name, builder] : builders)
    if (name == kind)
      return builder;
  return nullptr;
}

std::vector<std::string> autopar::importer::blockKinds() {
  std::vector<std::string> kinds;
  for (const auto &entry : builders)
    kinds.push_back(entry.first.str());
  return kinds;
}
