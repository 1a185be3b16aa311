//===- DraftModel.h - Models of unknown types, from tensors -----*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_IMPORT_DRAFTMODEL_H
#define AUTOPAR_IMPORT_DRAFTMODEL_H

#include "autopar/Checkpoint/DraftFamily.h"
#include "autopar/Import/NearestFamilies.h"

namespace autopar::importer {

/// A family for a model type that has none.
struct ModelDraft {
  /// Its text has a "draft", with what was guessed and the config it was made
  /// of.
  checkpoint::DraftedFamily family;
  /// The families with most tensors in common. Where the first has all of
  /// them, the draft is that family under another name.
  std::vector<Likeness> nearest;
};

/// Drafts a family for `modelType` from a config of this type and its
/// checkpoint, and imports it once. A draft whose weights take other bytes than
/// the checkpoint has says so among its guesses.
Result<ModelDraft> draftModel(const std::string &modelType,
                              const JsonDocument &config,
                              const checkpoint::CheckpointIndex &checkpoint);

} // namespace autopar::importer

#endif // AUTOPAR_IMPORT_DRAFTMODEL_H
