//===- Recomputation.h - What backwards make again --------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_PROGRAM_RECOMPUTATION_H
#define AUTOPAR_PROGRAM_RECOMPUTATION_H

#include "autopar/Support/Result.h"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace autopar::program {

/// Parts of layers that can be made again by themselves.
enum class LayerPart : uint8_t {
  /// Between queries, keys, values and what attention gives.
  attention_core,
  norms,
  /// What activation functions give, also in experts.
  mlp_activation,
  /// A dense feed-forward network, up to its last product.
  mlp,
  /// From the router to the last product of routed experts.
  experts,
  /// The feed-forward network beside routed experts.
  shared_experts,
  /// Of multi-head latent attention: from latents to queries, keys, values.
  mla_up,
};
inline constexpr std::array<LayerPart, 7> layerParts = {
    LayerPart::attention_core, LayerPart::norms,
    LayerPart::mlp_activation, LayerPart::mlp,
    LayerPart::experts,        LayerPart::shared_experts,
    LayerPart::mla_up};
std::string_view nameOf(LayerPart part);

/// What a backward makes again instead of having it saved.
struct Recomputation {
  enum class Kind : uint8_t {
    none,
    parts,
    /// All of a layer but what products with weights and attention give.
    save_products,
    /// All of a layer but its input.
    full,
    /// The least that fits the devices.
    fitting,
  };
  Kind kind = Kind::none;
  /// Each once, in the order of the enumeration.
  std::vector<LayerPart> parts = {};
  /// Of `save_products`, the first of each so many products is saved; of
  /// `full`, the last of each so many layers is made again.
  int64_t every = 1;
  /// Of `full`, that many layers of each stage, the first ones; 0 for all.
  int64_t layersOfStage = 0;

  /// "none", "selective" (as "attention_core"), "norms+mlp" (as "norms,mlp"),
  /// "save_products", "save_products/2", "full", "full/2", "full:8", "auto".
  /// Errors have no `where`, and say what there is.
  static Result<Recomputation> parse(std::string_view text);
  /// As `parse` reads it.
  std::string str() const;

  /// Whether layers of one kind may differ in what is made again of them.
  bool variesByLayer() const {
    return every > 1 ? kind == Kind::full : layersOfStage > 0;
  }
  /// Of `full`: whether it makes layer `index` of all again, which is number
  /// `ofStage` of its stage; both from 0.
  bool takesLayer(int64_t index, int64_t ofStage) const;

  friend bool operator==(const Recomputation &a, const Recomputation &b) {
    return a.kind == b.kind && a.parts == b.parts && a.every == b.every &&
           a.layersOfStage == b.layersOfStage;
  }
  friend bool operator!=(const Recomputation &a, const Recomputation &b) {
    return !(a == b);
  }
};

/// What may be said, for messages.
std::string recomputationChoices();

} // namespace autopar::program

#endif // AUTOPAR_PROGRAM_RECOMPUTATION_H
