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

/// What distinguishes the blocks of tensors that no other block uses.
struct RestKey {
  /// The element type of the weights, as families spell it, if it is not the
  /// model's.
  std::string element;
  int64_t experts = 0;
  bool isKept = false;

  /// Returns a name for the block: "unplaced_8_experts_fp32".
  std::string in(const std::string &name) const {
    return name + (experts ? "_" + std::to_string(experts) + "_experts" : "") +
           (isKept ? "_kept" : "") + (element.empty() ? "" : "_" + element);
  }
  bool operator<(const RestKey &other) const {
    return std::tie(element, experts, isKept) <
           std::tie(other.element, other.experts, other.isKept);
  }
};

/// The parts of a family file that were drafted so far, and what was guessed
/// for them.
struct Draft {
  explicit Draft(DraftConfig config) : config(std::move(config)) {}

  DraftConfig config;
  /// Number of elements of a token between layers.
  int64_t hidden = 0;
  /// The dtype of most bytes of the checkpoint, as safetensors spells it.
  std::string dtype;
  Json fields = Json::object(), blocks = Json::object();
  DraftedFamily result;

  /// Adds a text about a guess, unless the draft has this text already.
  void guess(const std::string &text);
  /// Returns an expression for `value`: the name of the field if the config
  /// states the value under one of the field's keys, else the number.
  std::string size(const std::string &field, int64_t value);
  /// Returns the name of the field if the config has one of its keys, else
  /// `absent`.
  std::string fieldOr(const std::string &field, const std::string &absent);
  /// Adds blocks for those tensors of `groups` that no other block uses, and
  /// returns the blocks' names, which begin with `name`: if `runs`, matrices
  /// become matmuls; all other tensors become weights. `layers` is the number
  /// of layers that have these tensors.
  std::vector<std::string> placeRest(const std::string &name,
                                     const TensorGroups &groups, bool runs,
                                     int64_t layers = 1);

private:
  Json unplaced(const RestKey &key, const Json &tensors);
  void guessUncounted(const TensorGroups &groups,
                      const std::set<std::string> &products);
  /// The values of the fields that expressions name.
  std::map<std::string, int64_t> values;
  void useKey(const std::string &field);
};

/// Writes the blocks for a kind of layer, with names that end with `suffix`,
/// and returns the steps of such a layer.
Json draftLayer(Draft &draft, LayerKind &kind, const std::string &suffix);

} // namespace autopar::checkpoint

#endif // AUTOPAR_LIB_CHECKPOINT_DRAFT_H
