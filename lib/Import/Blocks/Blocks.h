//===- Blocks.h - The kinds of blocks in families ---------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_IMPORT_BLOCKS_BLOCKS_H
#define AUTOPAR_LIB_IMPORT_BLOCKS_BLOCKS_H

#include "../ModelBuilder.h"

namespace autopar {

/// Writes the IR of one block: what goes in (null where the block starts a
/// stream) to what comes out.
using BlockBuilder = mlir::Value (*)(ModelBuilder &model, autopar::Block &block,
                                     mlir::Value x);

/// The builder of the blocks that say {"is": kind}, null where there is none.
BlockBuilder findBlockBuilder(llvm::StringRef kind);
std::vector<std::string> blockKinds();

// Tokens in, tokens out.
mlir::Value buildEmbedding(ModelBuilder &, Block &, mlir::Value);
mlir::Value buildLastToken(ModelBuilder &, Block &, mlir::Value);
mlir::Value buildHead(ModelBuilder &, Block &, mlir::Value);
// Norms and products.
mlir::Value buildRMSNorm(ModelBuilder &, Block &, mlir::Value);
mlir::Value buildLayerNorm(ModelBuilder &, Block &, mlir::Value);
mlir::Value buildLinear(ModelBuilder &, Block &, mlir::Value);
// Layers.
mlir::Value buildAttention(ModelBuilder &, Block &, mlir::Value);
mlir::Value buildFeedForward(ModelBuilder &, Block &, mlir::Value);
mlir::Value buildExperts(ModelBuilder &, Block &, mlir::Value);

/// The function that a text such as "silu" names; an error on the block.
transformer::FunctionKind functionOf(Block &block, const std::string &name);

} // namespace autopar

#endif // AUTOPAR_LIB_IMPORT_BLOCKS_BLOCKS_H
