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

/// Writes the IR of one block: what goes in (null where the block starts a
/// stream) to what comes out.
using BlockBuilder = mlir::Value (*)(ModelBuilder &model, model::Block &block,
                                     mlir::Value x);

/// The builder of the blocks that say {"is": kind}, null where there is none.
BlockBuilder findBlockBuilder(llvm::StringRef kind);
std::vector<std::string> blockKinds();

#define AUTOPAR_BLOCK(NAME)                                                    \
  mlir::Value NAME(ModelBuilder &model, model::Block &block, mlir::Value x);
// Tokens in, tokens out.
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
// Norms, products, elements.
AUTOPAR_BLOCK(buildRMSNorm)
AUTOPAR_BLOCK(buildLayerNorm)
AUTOPAR_BLOCK(buildBatchNorm)
AUTOPAR_BLOCK(buildLinear)
AUTOPAR_BLOCK(buildActivation)
AUTOPAR_BLOCK(buildSoftmax)
AUTOPAR_BLOCK(buildScale)
AUTOPAR_BLOCK(buildSoftcap)
// Attention.
AUTOPAR_BLOCK(buildAttention)
AUTOPAR_BLOCK(buildLatentAttention)
AUTOPAR_BLOCK(buildCompressedAttention)
// Feed-forward parts.
AUTOPAR_BLOCK(buildFeedForward)
AUTOPAR_BLOCK(buildExperts)
// Recurrences.
AUTOPAR_BLOCK(buildMamba)
AUTOPAR_BLOCK(buildMamba2)
AUTOPAR_BLOCK(buildDeltaNet)
AUTOPAR_BLOCK(buildKimiDelta)
AUTOPAR_BLOCK(buildShortConv)
AUTOPAR_BLOCK(buildLinearAttention)
// Streams of hyper-connections.
AUTOPAR_BLOCK(buildHyperExpand)
AUTOPAR_BLOCK(buildHyperPre)
#undef AUTOPAR_BLOCK

/// The type of a tensor's elements: the model's, or what "element" says.
mlir::Type readElement(ModelBuilder &model, model::Block &block);

/// The function that a text such as "silu" names; an error on the block.
transformer::FunctionKind functionOf(model::Block &block,
                                     const std::string &name);

/// A norm over the last dimensions of `x`.
struct NormSpec {
  /// Without ".weight"; or the weight's whole name.
  std::string stem, tensor;
  bool isLayerNorm = false;
  bool hasWeight = true, hasBias = false, unitOffset = false;
  double eps = 1e-6;
  /// Shape of the weight, and how many trailing dimensions are normalised.
  llvm::SmallVector<int64_t> shape;
  int64_t over = 1, groups = 1;
  /// How the weight lies in the checkpoint, "" as it is.
  std::string storage;
};
mlir::Value createNorm(ModelBuilder &model, mlir::Value x,
                       const NormSpec &norm);
/// `gate` and `up` combined: f(gate) * up, both within `limit` where that is
/// not 0, or with `unitOffset` f(gate) * (up + 1).
mlir::Value createGated(ModelBuilder &model, mlir::Value gate, mlir::Value up,
                        transformer::FunctionKind function, double limit = 0,
                        bool unitOffset = false);
/// Which elements of a head turn; 0: all. `inverse`: they turn back.
struct RopeSpec {
  int64_t width = 0;
  bool last = false, interleaved = false, inverse = false;
};
/// The angles that a block's rope_theta and rope_scaling say; a theta of 0:
/// none.
struct RopeAngles {
  double theta = 0;
  transformer::RopeScalingAttr scaling;
};
RopeAngles readAngles(ModelBuilder &model, model::Block &block);
/// `x` rotated as the block's rope_theta and rope_scaling say.
mlir::Value createRope(ModelBuilder &model, model::Block &block, mlir::Value x,
                       const RopeSpec &rope);
/// `x` under a kernel for each of its channels, which the checkpoint has as
/// `[channels, 1, kernel..]`.
mlir::Value createChannelConvolution(ModelBuilder &model, mlir::Value x,
                                     const std::string &stem, int64_t kernel,
                                     bool isPlane, bool bias,
                                     mlir::Type result);
/// `x` times a weight whose leading dimensions are the last ones of `x`.
mlir::Value createProduct(ModelBuilder &model, mlir::Value x, mlir::Value w,
                          mlir::Value bias = {});

} // namespace autopar::importer

#endif // AUTOPAR_LIB_IMPORT_BLOCKS_BLOCKS_H
