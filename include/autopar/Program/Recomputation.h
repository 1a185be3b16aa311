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

/// Groups of ops of a layer that can each be recomputed on their own.
enum class LayerPart : uint8_t {
  /// The ops from queries, keys and values to the result of attention.
  attention_core,
  norms,
  /// The activation functions, also those in experts.
  mlp_activation,
  /// A dense feed-forward network, up to its last matmul.
  mlp,
  /// The ops from the router to the last matmul of routed experts.
  experts,
  /// The feed-forward network that runs beside routed experts.
  shared_experts,
  /// In multi-head latent attention: the ops from latents to queries, keys and
  /// values.
  mla_up,
};
inline constexpr std::array<LayerPart, 7> layerParts = {
    LayerPart::attention_core, LayerPart::norms,
    LayerPart::mlp_activation, LayerPart::mlp,
    LayerPart::experts,        LayerPart::shared_experts,
    LayerPart::mla_up};
std::string_view nameOf(LayerPart part);

/// Which activations a backward recomputes instead of keeping them in memory.
struct Recomputation {
  enum class Kind : uint8_t {
    none,
    parts,
    /// Recomputes all of a layer except the results of attention and of matmuls
    /// with weights.
    save_products,
    /// Recomputes all values of a layer except the layer's input.
    full,
    /// The least recomputation with which the plan fits in memory.
    fitting,
  };
  Kind kind = Kind::none;
  /// The groups of ops to recompute, each once, in the order of the
  /// enumeration.
  std::vector<LayerPart> parts = {};
  /// With `save_products`: of each `every` matmuls, the first is saved. With
  /// `full`: of each `every` layers, the last is recomputed.
  int64_t every = 1;
  /// With `full`: how many layers per stage are recomputed, counted from the
  /// first; 0 for all.
  int64_t layersOfStage = 0;

  /// Parses "none", "selective" (the same as "attention_core"), "norms+mlp"
  /// (the same as "norms,mlp"), "save_products", "save_products/2", "full",
  /// "full/2", "full:8", "auto". Errors have no `where` (location), and list
  /// the choices.
  static Result<Recomputation> parse(std::string_view text);
  /// Returns the text from which `parse` makes an equal object.
  std::string str() const;

  /// Whether layers of one kind may differ in what is recomputed of them.
  bool variesByLayer() const {
    return every > 1 ? kind == Kind::full : layersOfStage > 0;
  }
  /// With `full`: whether layer `index` of the model is recomputed, which is
  /// layer `ofStage` of its stage; both count from 0.
  bool takesLayer(int64_t index, int64_t ofStage) const;

  friend bool operator==(const Recomputation &a, const Recomputation &b) {
    return a.kind == b.kind && a.parts == b.parts && a.every == b.every &&
           a.layersOfStage == b.layersOfStage;
  }
  friend bool operator!=(const Recomputation &a, const Recomputation &b) {
    return !(a == b);
  }
};

/// Returns all choices as text, for messages.
std::string recomputationChoices();

} // namespace autopar::program

#endif // AUTOPAR_PROGRAM_RECOMPUTATION_H
