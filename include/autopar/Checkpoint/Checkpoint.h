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
  /// The element type in the words of the file format: "BF16", "Q4_K". "" if
  /// only the tensor's name is known.
  std::string dtype;
  /// The element type as autopar knows it; nothing if autopar has no such type.
  std::optional<ElementType> type;
  /// The tensor's dimensions, outermost first.
  std::vector<int64_t> shape;
  int64_t bytes = 0;

  bool known() const { return !dtype.empty(); }
};

enum class CheckpointFormat { safetensors, pytorch, gguf };
/// Returns "safetensors", "PyTorch" or "GGUF".
std::string_view nameOf(CheckpointFormat format);

struct CheckpointIndex {
  CheckpointFormat format = CheckpointFormat::safetensors;
  /// The tensors of all files; no name occurs twice.
  std::vector<CheckpointTensor> tensors;
  /// Bytes of all tensors, if an index file states them.
  std::optional<int64_t> totalSize;
  /// Metadata of the files, as pairs of key and text: scalars and strings as
  /// they are, arrays as their number of elements.
  std::vector<std::pair<std::string, std::string>> metadata;
  /// Names of the files whose headers were read, and of those that are missing
  /// or were not opened.
  std::vector<std::string> files, unreadFiles;
  /// Remarks on odd contents of the files that are not errors.
  std::vector<std::string> notes;

  /// Bytes of the tensors whose shape and type are known.
  Checked bytes() const;
  /// Number of tensors of which only the name is known.
  size_t unknown() const;
  /// Returns the metadata text of `key`; "" if there is none.
  std::string metadataOr(std::string_view key) const;
};

/// Reads the header of one safetensors or GGUF file. Every length is checked
/// against the file's size before it is used; errors name the byte or the JSON
/// pointer.
Result<CheckpointIndex> readSafetensors(ByteSource &source);
Result<CheckpointIndex> readGguf(ByteSource &source);
/// Reads a safetensors or a GGUF file; the first bytes tell which it is.
Result<CheckpointIndex> readCheckpoint(ByteSource &source);

/// Reads `source`, a `*.index.json` file of `folder`, and the headers of the
/// safetensors files that it lists and that exist. PyTorch files are never
/// opened.
Result<CheckpointIndex> readIndex(ByteSource &source, const ByteFolder &folder,
                                  CheckpointFormat format);
/// Reads the first file of `folder` that exists of model.safetensors,
/// model.safetensors.index.json and pytorch_model.bin.index.json.
Result<CheckpointIndex> readCheckpoint(const ByteFolder &folder);
/// Reads the checkpoint at `path`: a directory, a *.index.json file, a
/// safetensors file, or a GGUF file with all the parts that it was split into.
Result<CheckpointIndex> readCheckpoint(const std::string &path);

} // namespace autopar::checkpoint

#endif // AUTOPAR_CHECKPOINT_CHECKPOINT_H
