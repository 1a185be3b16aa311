//===- Gguf.cpp -----------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The format: github.com/ggml-org/ggml, docs/gguf.md.
//
//===----------------------------------------------------------------------===//

#include "ByteCursor.h"
#include "StorageTypes.h"

#include "autopar/Support/Limits.h"
#include "autopar/Support/Text.h"

#include <algorithm>
#include <unordered_set>

using namespace autopar;
using namespace autopar::checkpoint;

namespace {

/// The type of a metadata value: `enum gguf_type`. All but the last three are
/// numbers.
enum Kind : uint32_t {
  kindU8,
  kindI8,
  kindU16,
  kindI16,
  kindU32,
  kindI32,
  kindF32,
  kindBool,
  kindString,
  kindArray,
  kindU64,
  kindI64,
  kindF64
};

constexpr uint64_t defaultAlignment = 32;
/// Largest number of dimensions of a tensor in ggml.
constexpr uint32_t maxRank = 4;
/// Least number of bytes of a key with its value, and of the entry of a tensor.
constexpr uint64_t leastPair = 8 + 4 + 1, leastTensor = 8 + 4 + 8 + 4 + 8;

class GgufReader {
public:
  explicit GgufReader(ByteSource &source)
      : source(source), in(source, limits::maxFileBytes) {}

  Result<CheckpointIndex> read() {
    index.format = CheckpointFormat::gguf;
    index.files.push_back(source.name());
    readVersion();
    uint64_t tensors = count("tensors", leastTensor);
    uint64_t pairs = count("metadata entries", leastPair);
    for (uint64_t i = 0; i < pairs && !in.failed(); ++i)
      readPair();
    for (uint64_t i = 0; i < tensors && !in.failed(); ++i)
      readTensor();
    checkSize();
    if (in.failed())
      return in.takeError();
    return std::move(index);
  }

private:
  void readVersion() {
    if (in.number<uint32_t>() != 0x46554747) // "GGUF"
      return in.failAt(0, "expected \"GGUF\"");
    auto version = in.number<uint32_t>();
    if (version == 2 || version == 3)
      return;
    if (version && !(version & 0xffff))
      in.failAt(4, "is big-endian GGUF", "only little-endian files are read");
    else
      in.failAt(4, "unknown GGUF version " + std::to_string(version),
                "known: 2 and 3");
  }

  /// Reads a count of items that take at least `least` bytes each.
  uint64_t count(const std::string &what, uint64_t least) {
    uint64_t where = in.position();
    auto number = in.number<uint64_t>();
    if (!in.failed() && number > in.remaining() / least)
      in.failAt(where,
                std::to_string(number) + " " + what + " do not fit in the " +
                    std::to_string(in.remaining()) + " bytes that follow");
    return in.failed() ? 0 : number;
  }

  void readPair() {
    uint64_t where = in.position();
    std::string key = in.text("a key");
    if (!in.failed() && !keys.insert(key).second)
      in.failAt(where, "duplicate key \"" + shorten(key) + "\"");
    auto kind = in.number<uint32_t>();
    where = in.position();
    std::string value = readValue(kind, 0);
    if (key == "general.alignment")
      readAlignment(where, kind, value);
    index.metadata.emplace_back(std::move(key), std::move(value));
  }

  void readAlignment(uint64_t where, uint32_t kind, const std::string &value) {
    if (in.failed())
      return;
    alignment = kind == kindU32 ? std::stoull(value) : 0;
    if (!alignment || (alignment & (alignment - 1)))
      in.failAt(where, "general.alignment is " + shorten(value) +
                           ", expected a power of two as uint32");
  }

  /// Returns the bytes of one value of a type with a fixed size; 0 for other
  /// types.
  static uint64_t widthOf(uint32_t kind) {
    static constexpr uint8_t widths[] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
    return kind < std::size(widths) ? widths[kind] : 0;
  }

  std::string readValue(uint32_t kind, unsigned depth) {
    switch (kind) {
    case kindU8:
      return std::to_string(in.number<uint8_t>());
    case kindI8:
      return std::to_string(in.number<int8_t>());
    case kindU16:
      return std::to_string(in.number<uint16_t>());
    case kindI16:
      return std::to_string(in.number<int16_t>());
    case kindU32:
      return std::to_string(in.number<uint32_t>());
    case kindI32:
      return std::to_string(in.number<int32_t>());
    case kindU64:
      return std::to_string(in.number<uint64_t>());
    case kindI64:
      return std::to_string(in.number<int64_t>());
    case kindF32:
      return formatNumber(static_cast<double>(in.number<float>()));
    case kindF64:
      return formatNumber(in.number<double>());
    case kindBool:
      return readBool();
    case kindString:
      return in.text("a string");
    case kindArray:
      return readArray(depth);
    default:
      in.failAt(in.position() - 4,
                "unknown kind of value " + std::to_string(kind),
                "known: 0 to 12");
      return "";
    }
  }

  std::string readBool() {
    auto value = in.number<uint8_t>();
    if (value > 1)
      in.failAt(in.position() - 1,
                "expected 0 or 1 for a bool, found " + std::to_string(value));
    return value ? "true" : "false";
  }

  /// Reads an array and returns its length as text; elements of a fixed size
  /// are skipped.
  std::string readArray(unsigned depth) {
    if (depth >= limits::maxNestingDepth) {
      in.failAt(in.position(), "arrays nested deeper than " +
                                   std::to_string(limits::maxNestingDepth) +
                                   " levels");
      return "";
    }
    auto kind = in.number<uint32_t>();
    if (kind > kindF64)
      in.failAt(in.position() - 4,
                "unknown kind of value " + std::to_string(kind),
                "known: 0 to 12");
    uint64_t width = widthOf(kind);
    // A string begins with a length, an array with a type and a length.
    uint64_t least = width ? width : kind == kindArray ? 12 : 8;
    uint64_t length = count("elements", least);
    if (width)
      in.skip(length * width);
    else
      for (uint64_t i = 0; i < length && !in.failed(); ++i)
        readValue(kind, depth + 1);
    return "array of " + std::to_string(length);
  }

  std::vector<int64_t> readShape() {
    uint64_t where = in.position();
    auto rank = in.number<uint32_t>();
    if (rank > maxRank)
      in.failAt(where, "a tensor of " + std::to_string(rank) +
                           " dimensions; ggml has at most " +
                           std::to_string(maxRank));
    std::vector<int64_t> shape;
    for (uint32_t i = 0; i < rank && !in.failed(); ++i) {
      where = in.position();
      auto size = in.number<uint64_t>();
      if (size > static_cast<uint64_t>(INT64_MAX))
        in.failAt(where,
                  "dimension " + std::to_string(size) + " is 2^63 or more");
      shape.push_back(static_cast<int64_t>(size));
    }
    // ggml lists dimensions innermost first.
    std::reverse(shape.begin(), shape.end());
    return shape;
  }

  void readTensor() {
    uint64_t where = in.position();
    CheckpointTensor tensor;
    tensor.name = in.text("a tensor name");
    std::string problem = checkName(tensor.name);
    if (!problem.empty())
      in.failAt(where, problem);
    if (!in.failed() && !names.insert(tensor.name).second)
      in.failAt(where, "duplicate tensor \"" + shorten(tensor.name) + "\"");
    std::vector<int64_t> shape = readShape();
    where = in.position();
    auto number = in.number<uint32_t>();
    const StorageType *type = findGgmlType(number);
    if (!type)
      failType(where, number);
    auto offset = in.number<uint64_t>();
    if (in.failed())
      return;
    problem = setStorage(tensor, *type, std::move(shape));
    if (!problem.empty())
      return in.failAt(where, problem);
    if (end != Checked(static_cast<int64_t>(offset)))
      return in.failAt(where + 4, "the data of \"" + shorten(tensor.name) +
                                      "\" is at offset " +
                                      std::to_string(offset) + ", expected " +
                                      end.str());
    last = end + tensor.bytes;
    end = roundUp(last, static_cast<int64_t>(alignment));
    index.tensors.push_back(std::move(tensor));
  }

  void failType(uint64_t where, uint32_t number) {
    std::string_view removed = removedGgmlType(number);
    std::string text = std::to_string(number);
    if (removed.empty())
      in.failAt(where, "unknown ggml type " + text);
    else
      in.failAt(where,
                "ggml type " + text + " (" + std::string(removed) +
                    ") was removed from ggml",
                "convert the model again");
  }

  void checkSize() {
    if (in.failed() || index.tensors.empty())
      return;
    Checked data = roundUp(Checked(static_cast<int64_t>(in.position())),
                           static_cast<int64_t>(alignment));
    Checked size = static_cast<int64_t>(source.size());
    if (data + last > size || !last.valid())
      in.failAt(source.size(),
                "the tensors end at byte " + (data + last).str() +
                    ", after the end of the file",
                "the file is truncated");
    else if (size > data + end)
      index.notes.push_back((size - data - last).str() +
                            " bytes follow the last tensor");
  }

  ByteSource &source;
  ByteCursor in;
  CheckpointIndex index;
  uint64_t alignment = defaultAlignment;
  /// The end of the data so far, with padding (`end`) and without (`last`).
  Checked end, last;
  std::unordered_set<std::string> keys, names;
};

} // namespace

Result<CheckpointIndex> autopar::checkpoint::readGguf(ByteSource &source) {
  return GgufReader(source).read();
}
