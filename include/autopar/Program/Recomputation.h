//===- Recomputation.h - Activations recomputed in backwards ----*- C++ -*-===//
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

/// Parts of layers that can be recomputed on their own.
enum class LayerPart : uint8_t {
  /// From queries, keys and values to the result of attention.
  attention_core,
  norms,
  /// The results of activation functions, also in experts.
  mlp_activation,
  /// A dense feed-forward network, up to its last matmul.
  mlp,
  /// From the router to the last matmul of routed experts.
  experts,
  /// The feed-forward network beside routed experts.
  shared_experts,
  /// In multi-head latent attention: from latents to queries, keys, values.
  mla_up,
};
inline constexpr std::array<LayerPart, 7> layerParts = {
    LayerPart::attention_core, LayerPart::norms,
    LayerPart::mlp_activation, LayerPart::mlp,
    LayerPart::experts,        LayerPart::shared_experts,
    LayerPart::mla_up};
std::string_view nameOf(LayerPart part);

/// The activations that a backward recomputes instead of keeping them.
struct Recomputation {
  enum class Kind : uint8_t {
    none,
    parts,
    /// All of a layer except the results of matmuls with weights and of
    /// attention.
    save_products,
    /// All of a layer except its input.
    full,
    /// The smallest recomputation that fits the devices.
    fitting,
  };
  Kind kind = Kind::none;
  /// Each once, in the order of the enumeration.
  std::vector<LayerPart> parts = {};
  /// With `save_products`, the first of every `every` matmuls is saved; with
  /// `full`, the last of every `every` layers is recomputed.
  int64_t every = 1;
  /// With `full`, the number of recomputed layers per stage, the first ones; 0
  /// for all.
  int64_t layersOfStage = 0;

  /// Parses "none", "selective" (as "attention_core"), "norms+mlp" (as
  /// "norms,mlp"), "save_products", "save_products/2", "full", "full/2",
  /// "full:8", "auto". Errors have no `where`, and list the choices.
  static Result<Recomputation> parse(std::string_view text);
  /// The text that `parse` reads back.
  std::string str() const;

  /// Whether layers of one kind may differ in what is made again of them.
  bool variesByLayer() const {
    return every > 1 ? kind == Kind::full : layersOfStage > 0;
  }
  /// With `full`: whether layer `index` of all, which is number `ofStage` of
  /// its stage, is recomputed; both count from 0.
  bool takesLayer(int64_t index, int64_t ofStage) const;

  friend bool operator==(const Recomputation &a, const Recomputation &b) {
    return a.kind == b.kind && a.parts == b.parts && a.every == b.every &&
           a.layersOfStage == b.layersOfStage;
  }
  friend bool operator!=(const Recomputation &a, const Recomputation &b) {
    return !(a == b);
  }
};

/// The choices in words, for messages.
std::string recomputationChoices();

} // namespace autopar::program

#endif // AUTOPAR_PROGRAM_RECOMPUTATION_H
