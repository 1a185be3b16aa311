//===- Checkpoint.cpp -----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Parts.h"

#include "autopar/Support/File.h"
#include "autopar/Support/Text.h"

using namespace autopar;
using namespace autopar::checkpoint;

std::string_view autopar::checkpoint::nameOf(CheckpointFormat format) {
  switch (format) {
  case CheckpointFormat::safetensors:
    return "safetensors";
  case CheckpointFormat::pytorch:
    return "PyTorch";
  case CheckpointFormat::gguf:
    return "GGUF";
  }
  return "";
}

Checked CheckpointIndex::bytes() const {
  Checked sum;
  for (const CheckpointTensor &tensor : tensors)
    sum += tensor.bytes;
  return sum;
}

size_t CheckpointIndex::unknown() const {
  size_t count = 0;
  for (const CheckpointTensor &tensor : tensors)
    count += !tensor.known();
  return count;
}

std::string CheckpointIndex::metadataOr(std::string_view key) const {
  for (auto &[name, value] : metadata)
    if (name == key)
      return value;
  return "";
}

std::optional<Error> TensorMerge::add(CheckpointIndex part) {
  for (CheckpointTensor &tensor : part.tensors) {
    if (!seen.insert(tensor.name).second)
      return Error{part.files.front(),
                   "the tensor \"" + shorten(tensor.name) +
                       "\" is in another file too",
                   ""};
    whole.tensors.push_back(std::move(tensor));
  }
  if (whole.metadata.empty())
    whole.metadata = std::move(part.metadata);
  whole.files.push_back(part.files.front());
  whole.notes.insert(whole.notes.end(), part.notes.begin(), part.notes.end());
  return std::nullopt;
}

void TensorMerge::add(CheckpointTensor tensor) {
  if (seen.insert(tensor.name).second)
    whole.tensors.push_back(std::move(tensor));
}

static bool startsWith(ByteSource &source, std::string_view text) {
  if (source.size() < text.size())
    return false;
  Result<std::string> front = source.read(0, text.size());
  return front && *front == text;
}

bool autopar::checkpoint::isPointer(ByteSource &source) {
  return startsWith(source, "version https://git-lfs");
}

Result<CheckpointIndex>
autopar::checkpoint::readCheckpoint(ByteSource &source) {
  if (isPointer(source))
    return Error{source.name(), "is a pointer of Git LFS, not the file itself",
                 "`git lfs pull` gets the file"};
  if (startsWith(source, "GGUF"))
    return readGguf(source);
  if (startsWith(source, "PK\x03\x04"))
    return Error{source.name(), "is a PyTorch pickle, which is never opened",
                 "read its pytorch_model.bin.index.json, or convert it to "
                 "safetensors"};
  return readSafetensors(source);
}

static constexpr std::string_view indexSuffix = ".index.json";
static constexpr std::string_view binIndexSuffix = ".bin.index.json";

static bool endsWith(std::string_view text, std::string_view suffix) {
  return text.size() >= suffix.size() &&
         text.substr(text.size() - suffix.size()) == suffix;
}

static CheckpointFormat formatOfIndex(std::string_view file) {
  return endsWith(file, binIndexSuffix) ? CheckpointFormat::pytorch
                                        : CheckpointFormat::safetensors;
}

Result<CheckpointIndex>
autopar::checkpoint::readCheckpoint(const ByteFolder &folder) {
  for (const char *file : {"model.safetensors", "model.safetensors.index.json",
                           "pytorch_model.bin.index.json"}) {
    Result<std::unique_ptr<ByteSource>> source = folder.open(file);
    if (!source)
      return source.error();
    if (!*source)
      continue;
    if (!endsWith(file, indexSuffix))
      return readCheckpoint(**source);
    return readIndex(**source, folder, formatOfIndex(file));
  }
  return Error{folder.name(),
               "has no model.safetensors, model.safetensors.index.json or "
               "pytorch_model.bin.index.json",
               "name the file where it is called otherwise"};
}

/// Returns the name of part `number` of a GGUF file that was split as llama.cpp
/// does, `name-00001-of-00003.gguf`, and sets the number of `parts`; "" if
/// `path` is not such a part.
static std::string nameOfPart(const std::string &path, int number, int &parts) {
  constexpr std::string_view shape = "-00000-of-00000.gguf";
  if (path.size() < shape.size())
    return "";
  size_t begin = path.size() - shape.size();
  for (size_t i = 0; i < shape.size(); ++i)
    if (shape[i] == '0' ? path[begin + i] < '0' || path[begin + i] > '9'
                        : path[begin + i] != shape[i])
      return "";
  parts = std::stoi(path.substr(begin + 10, 5));
  std::string digits = std::to_string(number);
  return path.substr(0, begin + 1) + std::string(5 - digits.size(), '0') +
         digits + path.substr(begin + 6);
}

static Result<CheckpointIndex> readParts(const std::string &path, int parts) {
  TensorMerge merge(CheckpointFormat::gguf);
  for (int i = 1; i <= parts; ++i) {
    std::string file = nameOfPart(path, i, parts);
    if (!fileExists(file)) {
      merge.whole.unreadFiles.push_back(file);
      continue;
    }
    Result<std::unique_ptr<ByteSource>> source = openFile(file);
    if (!source)
      return source.error();
    Result<CheckpointIndex> part = readGguf(**source);
    if (!part)
      return part.error();
    if (std::optional<Error> error = merge.add(std::move(*part)))
      return *error;
  }
  return std::move(merge.whole);
}

Result<CheckpointIndex>
autopar::checkpoint::readCheckpoint(const std::string &path) {
  if (isDirectory(path))
    return readCheckpoint(*openFolder(path));
  Result<std::unique_ptr<ByteSource>> source = openFile(path);
  if (!source)
    return source.error();
  if (endsWith(path, indexSuffix)) {
    size_t slash = path.rfind('/');
    std::string folder =
        slash == std::string::npos ? "" : path.substr(0, slash + 1);
    return readIndex(**source, *openFolder(folder), formatOfIndex(path));
  }
  int parts = 0;
  if (!nameOfPart(path, 1, parts).empty() && parts > 1)
    return readParts(path, parts);
  return readCheckpoint(**source);
}
