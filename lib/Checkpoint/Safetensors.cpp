//===- Safetensors.cpp ----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The format: github.com/huggingface/safetensors, README.md, "Format".
//
//===----------------------------------------------------------------------===//

#include "StorageTypes.h"

#include "autopar/Support/Json.h"
#include "autopar/Support/Limits.h"
#include "autopar/Support/Text.h"

#include <algorithm>

using namespace autopar;
using namespace autopar::checkpoint;

static constexpr uint64_t lengthBytes = 8;

static std::string bytesText(uint64_t bytes) {
  return std::to_string(bytes) + " bytes";
}

static Result<std::string> readHeader(ByteSource &source) {
  uint64_t size = source.size();
  if (size < lengthBytes)
    return Error{source.name(),
                 "is " + bytesText(size) + ", too short for safetensors", ""};
  Result<std::string> front = source.read(0, lengthBytes);
  if (!front)
    return front.error();
  uint64_t length = 0;
  for (size_t i = lengthBytes; i-- > 0;)
    length = length << 8 | static_cast<unsigned char>((*front)[i]);
  std::string where = source.name() + ": byte 0";
  if (length > limits::maxSafetensorsHeader)
    return Error{where,
                 "the header's length is " + bytesText(length) +
                     ", above the format's limit of " +
                     bytesText(limits::maxSafetensorsHeader),
                 "is this a safetensors file?"};
  if (length > size - lengthBytes)
    return Error{where,
                 "the header's length is " + bytesText(length) + ", but only " +
                     bytesText(size - lengthBytes) + " follow",
                 "the file is truncated"};
  Result<std::string> header = source.read(lengthBytes, length);
  if (header && (header->empty() || header->front() != '{'))
    return Error{source.name() + ": byte 8",
                 "expected '{', the start of the header", ""};
  return header;
}

namespace {

/// The byte range of the data of tensor `index`, counted from the end of the
/// header.
struct Extent {
  int64_t begin, end;
  size_t index;
};

class HeaderReader {
public:
  explicit HeaderReader(JsonReader json) : json(std::move(json)) {}

  Result<CheckpointIndex> read(int64_t dataBytes) {
    for (auto &[name, value] : json.members()) {
      if (name == "__metadata__")
        readMetadata(value);
      else
        readTensor(name, value);
      if (json.failed())
        return json.takeError();
    }
    checkExtents(dataBytes);
    if (json.failed())
      return json.takeError();
    return std::move(index);
  }

private:
  void readMetadata(const JsonReader &object) {
    if (!object.isObject())
      object.fail("expected an object of strings");
    for (auto &[key, value] : object.members())
      index.metadata.emplace_back(key, value.asString());
  }

  std::vector<int64_t> integers(const JsonReader &array) {
    std::vector<int64_t> values;
    for (const JsonReader &element : array.elements())
      values.push_back(element.asInteger(0, INT64_MAX));
    return values;
  }

  void readTensor(const std::string &name, const JsonReader &object) {
    CheckpointTensor tensor;
    tensor.name = name;
    std::string problem = checkName(name);
    if (!problem.empty())
      return json.fail(problem); // The pointer would have the name as it is.
    std::string dtype = object.string("dtype");
    std::vector<int64_t> shape = integers(object.array("shape"));
    std::vector<int64_t> offsets = integers(object.array("data_offsets"));
    if (json.failed())
      return;
    const StorageType *type = findSafetensorsType(dtype);
    if (!type)
      return object.failAt("dtype", "unknown dtype \"" + shorten(dtype) + "\"",
                           "known: " + safetensorsTypeChoices());
    problem = setStorage(tensor, *type, std::move(shape));
    if (!problem.empty())
      return object.failAt("shape", problem);
    if (offsets.size() != 2 || offsets[0] > offsets[1])
      return object.failAt("data_offsets", "expected [begin, end]");
    if (offsets[1] - offsets[0] != tensor.bytes)
      return object.failAt(
          "data_offsets",
          "the range has " + std::to_string(offsets[1] - offsets[0]) +
              " bytes, but " + formatShape(tensor.shape) + " of " + dtype +
              " takes " + std::to_string(tensor.bytes));
    extents.push_back({offsets[0], offsets[1], index.tensors.size()});
    index.tensors.push_back(std::move(tensor));
  }

  /// Verifies that the tensors cover the data of the file, each byte once.
  void checkExtents(int64_t dataBytes) {
    std::sort(extents.begin(), extents.end(),
              [](const Extent &a, const Extent &b) {
                return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
              });
    int64_t end = 0;
    for (const Extent &extent : extents) {
      if (extent.begin != end)
        return json.failAt(
            index.tensors[extent.index].name,
            "its data begins at " + std::to_string(extent.begin) +
                (extent.begin < end ? ", inside that of another tensor, which "
                                      "ends at "
                                    : ", with a hole after ") +
                std::to_string(end));
      end = extent.end;
    }
    if (end != dataBytes)
      json.fail("the tensors end at byte " + std::to_string(end) +
                    " of the data, but the file has " +
                    std::to_string(dataBytes) + " bytes of it",
                end > dataBytes ? "the file is truncated" : "");
  }

  JsonReader json;
  CheckpointIndex index;
  std::vector<Extent> extents;
};

} // namespace

Result<CheckpointIndex>
autopar::checkpoint::readSafetensors(ByteSource &source) {
  Result<std::string> header = readHeader(source);
  if (!header)
    return header.error();
  auto dataBytes =
      static_cast<int64_t>(source.size() - lengthBytes - header->size());
  Result<JsonDocument> document =
      JsonDocument::parse(*header, source.name() + " (header)");
  if (!document)
    return document.error();
  Result<CheckpointIndex> index =
      HeaderReader(document->reader()).read(dataBytes);
  if (index)
    index->files.push_back(source.name());
  return index;
}
