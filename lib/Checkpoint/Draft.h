//===- Draft.h - A family while it is drafted -------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_CHECKPOINT_DRAFT_H
#define AUTOPAR_LIB_CHECKPOINT_DRAFT_H

#include "DraftConfig.h"
#include "LayerKinds.h"

#include "autopar/Checkpoint/DraftFamily.h"

#include <set>
#include <tuple>

namespace autopar::checkpoint {

using Json = nlohmann::ordered_json;

/// What tells blocks of tensors without a place apart.
struct RestKey {
  /// Of weights in another type than the model's, as families spell it.
  std::string element;
  int64_t experts = 0;
  bool isKept = false;

  /// A name for the block: "unplaced_8_experts_fp32".
  std::string in(const std::string &name) const {
    return name + (experts ? "_" + std::to_string(experts) + "_experts" : "") +
           (isKept ? "_kept" : "") + (element.empty() ? "" : "_" + element);
  }
  bool operator<(const RestKey &other) const {
    return std::tie(element, experts, isKept) <
           std::tie(other.element, other.experts, other.isKept);
  }
};

/// The parts of a family file so far, and what was guessed for them.
struct Draft {
  explicit Draft(DraftConfig config) : config(std::move(config)) {}

  DraftConfig config;
  /// Elements of a token between layers.
  int64_t hidden = 0;
  /// What most bytes of the checkpoint are, as safetensors spells it.
  std::string dtype;
  Json fields = Json::object(), blocks = Json::object();
  DraftedFamily result;

  /// Adds a guess, once.
  void guess(const std::string &text);
  /// An expression for `value`: the field, where the config says it by one of
  /// the field's keys, else the number.
  std::string size(const std::string &field, int64_t value);
  /// The field as the config has it; where no key does, `absent`.
  std::string fieldOr(const std::string &field, const std::string &absent);
  /// Blocks for `groups` that no other has: matrices as products where `runs`,
  /// all others as weights. Names begin with `name`; `layers` have these
  /// groups.
  std::vector<std::string> placeRest(const std::string &name,
                                     const TensorGroups &groups, bool runs,
                                     int64_t layers = 1);

private:
  Json unplaced(const RestKey &key, const Json &tensors);
  void guessUncounted(const TensorGroups &groups,
                      const std::set<std::string> &products);
  /// Values of fields that expressions name.
  std::map<std::string, int64_t> values;
  void useKey(const std::string &field);
};

/// Writes the blocks of a kind of layers, whose names end with `suffix`, and
/// returns the steps of such a layer.
Json draftLayer(Draft &draft, LayerKind &kind, const std::string &suffix);

} // namespace autopar::checkpoint

#endif // AUTOPAR_LIB_CHECKPOINT_DRAFT_H
