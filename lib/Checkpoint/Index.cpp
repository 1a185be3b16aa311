//===- Index.cpp ----------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Parts.h"
#include "StorageTypes.h"

#include "autopar/Support/Json.h"
#include "autopar/Support/Limits.h"
#include "autopar/Support/Text.h"

#include <cmath>
#include <map>
#include <set>

using namespace autopar;
using namespace autopar::checkpoint;

/// Whether a file name of an index stays in the directory of the index.
static bool isInside(std::string_view file) {
  return !file.empty() && file.front() != '/' &&
         ("/" + std::string(file) + "/").find("/../") == std::string::npos &&
         file.find('\0') == std::string_view::npos;
}

namespace {

class IndexReader {
public:
  IndexReader(const JsonReader &json, const ByteFolder &folder,
              CheckpointFormat format)
      : json(json), folder(folder), merge(format), index(merge.whole) {}

  Result<CheckpointIndex> read() {
    readMetadata();
    std::map<std::string, std::vector<std::string>> files = readMap();
    if (json.failed())
      return json.takeError();
    for (auto &[file, names] : files)
      if (std::optional<Error> error = readFile(file, names))
        return *error;
    checkTotal();
    return std::move(index);
  }

private:
  void readMetadata() {
    if (!json.has("metadata"))
      return;
    JsonReader metadata = json.object("metadata");
    index.totalSize = readTotal(metadata, "total_size");
    if (auto total = readTotal(metadata, "total_parameters"))
      index.metadata.emplace_back("total_parameters", std::to_string(*total));
    for (auto &[key, value] : metadata.members())
      if (value.isString())
        index.metadata.emplace_back(key, value.asString());
  }

  /// Reads the total size. Old writers counted the bits of bools, so that it
  /// may be a fraction.
  static std::optional<int64_t> readTotal(const JsonReader &metadata,
                                          std::string_view key) {
    std::optional<double> total = metadata.optionalNumber(key, 0, 9e15);
    if (!total)
      return std::nullopt;
    return static_cast<int64_t>(std::ceil(*total));
  }

  std::map<std::string, std::vector<std::string>> readMap() {
    std::map<std::string, std::vector<std::string>> files;
    for (auto &[name, value] : json.object("weight_map").members()) {
      std::string problem = checkName(name);
      if (!problem.empty())
        json.fail(problem); // The pointer would have the name as it is.
      std::string file = value.asString();
      if (!isInside(file))
        value.fail("expected the name of a file beside the index, found \"" +
                   shorten(file) + "\"");
      if (json.failed())
        break;
      files[file].push_back(name);
    }
    return files;
  }

  std::optional<Error> readFile(const std::string &file,
                                const std::vector<std::string> &names) {
    std::unique_ptr<ByteSource> source;
    if (index.format == CheckpointFormat::safetensors) {
      Result<std::unique_ptr<ByteSource>> opened = folder.open(file);
      if (!opened)
        return opened.error();
      source = std::move(*opened);
    }
    if (!source || isPointer(*source)) {
      index.unreadFiles.push_back(file);
      for (const std::string &name : names)
        merge.add({name, "", std::nullopt, {}, 0});
      return std::nullopt;
    }
    Result<CheckpointIndex> part = readSafetensors(*source);
    if (!part)
      return part.error();
    std::optional<Error> error = checkNames(*part, file, names);
    return error ? error : merge.add(std::move(*part));
  }

  /// Returns an error if a file does not have the tensors that the index
  /// states; `names` must be sorted.
  std::optional<Error> checkNames(const CheckpointIndex &part,
                                  const std::string &file,
                                  const std::vector<std::string> &names) {
    std::set<std::string_view> held;
    for (const CheckpointTensor &tensor : part.tensors)
      held.insert(tensor.name);
    for (const std::string &name : names)
      if (!held.count(name)) {
        json.object("weight_map")
            .failAt(name, file + " has no tensor of this name");
        return json.takeError();
      }
    if (held.size() > names.size())
      index.notes.push_back(std::to_string(held.size() - names.size()) +
                            " tensors of " + file + " are not in the index");
    return std::nullopt;
  }

  void checkTotal() {
    if (!index.totalSize || index.unknown() ||
        index.bytes() == Checked(*index.totalSize))
      return;
    index.notes.push_back("the index says total_size " +
                          formatInteger(*index.totalSize) +
                          ", the files hold " + formatInteger(index.bytes()));
  }

  JsonReader json;
  const ByteFolder &folder;
  TensorMerge merge;
  CheckpointIndex &index;
};

} // namespace

Result<CheckpointIndex>
autopar::checkpoint::readIndex(ByteSource &source, const ByteFolder &folder,
                               CheckpointFormat format) {
  if (source.size() > limits::maxFileBytes)
    return Error{source.name(),
                 "file is larger than " + std::to_string(limits::maxFileBytes) +
                     " bytes",
                 ""};
  Result<std::string> text = source.read(0, source.size());
  if (!text)
    return text.error();
  Result<JsonDocument> document = JsonDocument::parse(*text, source.name());
  if (!document)
    return document.error();
  return IndexReader(document->reader(), folder, format).read();
}
