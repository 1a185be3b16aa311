//===- Checkpoint.h - What a checkpoint holds, from its headers -*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_CHECKPOINT_CHECKPOINT_H
#define AUTOPAR_CHECKPOINT_CHECKPOINT_H

#include "autopar/Checkpoint/ByteSource.h"
#include "autopar/Support/Checked.h"
#include "autopar/Support/ElementType.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace autopar::checkpoint {

struct CheckpointTensor {
  std::string name;
  /// As the format spells it: "BF16", "Q4_K". Empty where only the name is
  /// known.
  std::string dtype;
  /// Nothing where autopar has no such element type.
  std::optional<ElementType> type;
  /// Outermost first.
  std::vector<int64_t> shape;
  int64_t bytes = 0;

  bool known() const { return !dtype.empty(); }
};

enum class CheckpointFormat { safetensors, pytorch, gguf };
/// "safetensors", "PyTorch", "GGUF".
std::string_view nameOf(CheckpointFormat format);

struct CheckpointIndex {
  CheckpointFormat format = CheckpointFormat::safetensors;
  /// No name twice.
  std::vector<CheckpointTensor> tensors;
  /// Bytes of all tensors as an index file states them.
  std::optional<int64_t> totalSize;
  /// Scalars and strings; arrays as their length.
  std::vector<std::pair<std::string, std::string>> metadata;
  /// Files whose headers were read; files that are not there, or never opened.
  std::vector<std::string> files, unreadFiles;
  /// What is odd, but no error.
  std::vector<std::string> notes;

  /// Of the tensors that are known.
  Checked bytes() const;
  /// How many tensors only a name is known of.
  size_t unknown() const;
  /// "" where there is none.
  std::string metadataOr(std::string_view key) const;
};

/// Reads the header of one file. Every length is checked against the file's
/// size before it is used; errors name the byte or the JSON pointer.
Result<CheckpointIndex> readSafetensors(ByteSource &source);
Result<CheckpointIndex> readGguf(ByteSource &source);
/// Either, by the first bytes.
Result<CheckpointIndex> readCheckpoint(ByteSource &source);

/// Reads `source`, a `*.index.json` of `folder`, and the headers of the
/// safetensors shards that are there. Shards of PyTorch are never opened.
Result<CheckpointIndex> readIndex(ByteSource &source, const ByteFolder &folder,
                                  CheckpointFormat format);
/// The first of model.safetensors, model.safetensors.index.json and
/// pytorch_model.bin.index.json in `folder`.
Result<CheckpointIndex> readCheckpoint(const ByteFolder &folder);
/// A directory, a *.index.json, a safetensors file or a GGUF file, with the
/// parts that it was split into.
Result<CheckpointIndex> readCheckpoint(const std::string &path);

} // namespace autopar::checkpoint

#endif // AUTOPAR_CHECKPOINT_CHECKPOINT_H
