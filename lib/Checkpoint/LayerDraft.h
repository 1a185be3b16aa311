//===- LayerDraft.h - Blocks of a layer, by names and shapes ----*- C++
//-*-===////
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_CHECKPOINT_LAYERDRAFT_H
#define AUTOPAR_LIB_CHECKPOINT_LAYERDRAFT_H

#include "Draft.h"
#include "DraftTensors.h"

namespace autopar::checkpoint {

/// Drafts the blocks of one kind of layer. A block is written if all its
/// tensors have the shapes that such a block needs; other tensors are placed by
/// their shapes alone.
class LayerDraft {
public:
  LayerDraft(Draft &draft, LayerKind &kind, std::string suffix)
      : draft(draft), tensors(kind.tensors, draft.dtype), layers(kind.layers),
        suffix(std::move(suffix)) {}

  Json run();

private:
  Json &block(const std::string &name, const char *kind) {
    Json &description = draft.blocks[name + suffix];
    description["is"] = kind;
    return description;
  }

  //===--------------------------------------------------------------------===//
  // Drafts of attention
  //===--------------------------------------------------------------------===//

  bool draftLatentAttention();
  bool draftAttention();
  /// The stems of the attention's projections, separate or fused; "" if there
  /// is none.
  struct Products {
    std::string q, k, v, qkv, o;
    /// Whether the matrices are stored as `[in, out]`.
    bool transposed = false;
    int64_t heads = 0, kvHeads = 0, dim = 0, valueDim = 0;
    bool hasGate = false;
  };
  std::optional<Products> findProducts();
  bool findHeads(Products &found);
  void draftHeadNorms(Json &attention, const Products &found);

  //===--------------------------------------------------------------------===//
  // Drafts of feed-forward layers
  //===--------------------------------------------------------------------===//

  void draftExperts();
  /// A width that the experts' input may have, and the stems of the matrices
  /// that lead to this width and back; "" for the stream itself.
  struct Latent {
    int64_t width = 0;
    std::string in, out;
  };
  struct Experts {
    std::string gate, up, down, packed, layout;
    int64_t experts = 0, width = 0;
    Latent latent;
  };
  using Packed = std::pair<std::string, const TensorGroup *>;
  std::optional<Experts> findEach();
  std::vector<Latent> findLatents();
  std::optional<Experts> findPacked();
  Experts pairUp(const std::vector<Packed> &packed, const Packed &in,
                 const Packed &out, const Latent &latent,
                 const std::string &layout);
  std::optional<Experts> findFlat();
  std::string findRouter(const std::string &module, int64_t experts);
  void draftRouter(Json &experts, const std::string &router,
                   const std::string &module);
  void draftDense();
  bool draftDense(const std::string &down);

  //===--------------------------------------------------------------------===//
  // Drafts of the steps of a layer
  //===--------------------------------------------------------------------===//

  Json draftSteps(bool hasAttention);
  /// Drafts the norm whose name has one of the words for the role `part`, and
  /// returns the block's name; "" if there is none.
  std::string draftNorm(const char *part);
  void noteRest();

  /// Returns the activation function as an expression.
  std::string act();
  std::string eps() { return draft.fieldOr("rms_norm_eps", "1e-6"); }

  Draft &draft;
  LayerTensors tensors;
  const std::vector<int64_t> &layers;
  std::string suffix;
  /// The names of the blocks in the second half of the layer, whose results are
  /// added.
  std::vector<std::string> branches;
};

} // namespace autopar::checkpoint

#endif // AUTOPAR_LIB_CHECKPOINT_LAYERDRAFT_H
