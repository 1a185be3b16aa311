//===- Blocks.h - The kinds of blocks in families ---------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_IMPORT_BLOCKS_BLOCKS_H
#define AUTOPAR_LIB_IMPORT_BLOCKS_BLOCKS_H

#include "../ModelBuilder.h"

namespace autopar::importer {

/// A function that builds the IR of one block of a family. It takes the block's
/// input (null if the block begins a stream) and returns the output; null after
/// an error.
using BlockBuilder = mlir::Value (*)(ModelBuilder &model, model::Block &block,
                                     mlir::Value x);

/// Returns the function that builds blocks of {"is": kind}; null if there is no
/// such kind.
BlockBuilder findBlockBuilder(llvm::StringRef kind);
std::vector<std::string> blockKinds();

#define AUTOPAR_BLOCK(NAME)                                                    \
  mlir::Value NAME(ModelBuilder &model, model::Block &block, mlir::Value x);
// Blocks that make tokens from inputs, or select and move tokens.
AUTOPAR_BLOCK(buildEmbedding)
AUTOPAR_BLOCK(buildTokenIds)
AUTOPAR_BLOCK(buildPositionEmbedding)
AUTOPAR_BLOCK(buildPatchEmbedding)
AUTOPAR_BLOCK(buildConvolution)
AUTOPAR_BLOCK(buildChannelConvolution)
AUTOPAR_BLOCK(buildInput)
AUTOPAR_BLOCK(buildInsert)
AUTOPAR_BLOCK(buildGated)
AUTOPAR_BLOCK(buildLayerPart)
AUTOPAR_BLOCK(buildMergeTokens)
AUTOPAR_BLOCK(buildTensors)
AUTOPAR_BLOCK(buildWeight)
AUTOPAR_BLOCK(buildUnplaced)
AUTOPAR_BLOCK(buildLastToken)
AUTOPAR_BLOCK(buildHead)
// Norms, matmuls, and elementwise blocks.
AUTOPAR_BLOCK(buildRMSNorm)
AUTOPAR_BLOCK(buildLayerNorm)
AUTOPAR_BLOCK(buildBatchNorm)
AUTOPAR_BLOCK(buildLinear)
AUTOPAR_BLOCK(buildActivation)
AUTOPAR_BLOCK(buildSoftmax)
AUTOPAR_BLOCK(buildScale)
AUTOPAR_BLOCK(buildSoftcap)
// The functions that build blocks of attention.
AUTOPAR_BLOCK(buildAttention)
AUTOPAR_BLOCK(buildLatentAttention)
AUTOPAR_BLOCK(buildCompressedAttention)
// Feed-forward blocks, dense and with experts.
AUTOPAR_BLOCK(buildFeedForward)
AUTOPAR_BLOCK(buildExperts)
// The functions that build recurrent blocks.
AUTOPAR_BLOCK(buildMamba)
AUTOPAR_BLOCK(buildMamba2)
AUTOPAR_BLOCK(buildDeltaNet)
AUTOPAR_BLOCK(buildKimiDelta)
AUTOPAR_BLOCK(buildShortConv)
AUTOPAR_BLOCK(buildLinearAttention)
// Blocks that make, mix and merge the streams of hyper-connections.
AUTOPAR_BLOCK(buildHyperExpand)
AUTOPAR_BLOCK(buildHyperPre)
#undef AUTOPAR_BLOCK

/// Returns the element type of a tensor: that of the parameter "element", or
/// that of the model.
mlir::Type readElement(ModelBuilder &model, model::Block &block);

/// Returns the activation function that a text such as "silu" names; an unknown
/// name is an error of the block.
transformer::FunctionKind functionOf(model::Block &block,
                                     const std::string &name);

/// A norm over the last dimensions of its input.
struct NormSpec {
  /// `stem`: the name of the norm's tensors without ".weight". `tensor`: the
  /// whole name of the weight, if that does not follow from the stem.
  std::string stem, tensor;
  bool isLayerNorm = false;
  bool hasWeight = true, hasBias = false, unitOffset = false;
  double eps = 1e-6;
  /// Shape of the weight, and the number of trailing dimensions that are
  /// normalised.
  llvm::SmallVector<int64_t> shape;
  int64_t over = 1, groups = 1;
  /// The storage of the weight in the checkpoint; "" if it is stored as it is
  /// used.
  std::string storage;
};
mlir::Value createNorm(ModelBuilder &model, mlir::Value x,
                       const NormSpec &norm);
/// Returns `gate` and `up` combined: f(gate) * up, with both clamped to `limit`
/// if that is not 0; with `unitOffset` f(gate) * (up + 1).
mlir::Value createGated(ModelBuilder &model, mlir::Value gate, mlir::Value up,
                        transformer::FunctionKind function, double limit = 0,
                        bool unitOffset = false);
/// Which elements of a head are rotated: the first `width`, or the last if
/// `last`; 0: all. `inverse` rotates them back.
struct RopeSpec {
  int64_t width = 0;
  bool last = false, interleaved = false, inverse = false;
};
/// The angles of a rotation, from the block's rope_theta and rope_scaling. A
/// theta of 0 means no rotation.
struct RopeAngles {
  double theta = 0;
  transformer::RopeScalingAttr scaling;
};
RopeAngles readAngles(ModelBuilder &model, model::Block &block);
/// Returns `x`, rotated by the block's rope_theta and rope_scaling.
mlir::Value createRope(ModelBuilder &model, model::Block &block, mlir::Value x,
                       const RopeSpec &rope);
/// Returns `x` convolved with one kernel per channel, which the checkpoint
/// stores as `[channels, 1, kernel..]`.
mlir::Value createChannelConvolution(ModelBuilder &model, mlir::Value x,
                                     const std::string &stem, int64_t kernel,
                                     bool isPlane, bool bias,
                                     mlir::Type result);
/// Returns the matmul of `x` and `<stem>.weight`, stored as `[heads * size,
/// in]`: `heads` rows of `size` elements per token.
mlir::Value createHeads(ModelBuilder &model, mlir::Value x,
                        const std::string &stem, int64_t heads, int64_t size);
/// Creates a cache of `size` elements per token, which keeps the last `window`
/// tokens, or all if that is 0. Its format is that of KV caches unless
/// `element` is given.
mlir::Value createRowCache(ModelBuilder &model, int64_t size,
                           int64_t window = 0, mlir::Type element = {});
/// Returns the matmul of `x` and a weight, which contracts the last dimensions
/// of `x` with the equal leading ones of the weight.
mlir::Value createProduct(ModelBuilder &model, mlir::Value x, mlir::Value w,
                          mlir::Value bias = {});

} // namespace autopar::importer

#endif // AUTOPAR_LIB_IMPORT_BLOCKS_BLOCKS_H
