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

/// A drafted family file for a model type that autopar does not know.
struct ModelDraft {
  /// The drafted family. Its text has a member "draft" with the guesses and the
  /// config from which it was made.
  checkpoint::DraftedFamily family;
  /// The known families that share the most tensors with the model. If the
  /// first one shares all, the draft is that family under another name.
  std::vector<Likeness> nearest;
};

/// Drafts a family for `modelType` from a config and a checkpoint of this type,
/// and imports the draft once as a test. If the imported weights have other
/// bytes than the checkpoint, a guess of the draft says so.
Result<ModelDraft> draftModel(const std::string &modelType,
                              const JsonDocument &config,
                              const checkpoint::CheckpointIndex &checkpoint);

} // namespace autopar::importer

#endif // AUTOPAR_IMPORT_DRAFTMODEL_H
