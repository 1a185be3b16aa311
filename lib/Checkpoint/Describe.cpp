//===- Describe.cpp -------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Checkpoint/Verify.h"

#include "NameRuns.h"

#include "autopar/Support/Text.h"

#include <algorithm>
#include <cstdio>
#include <map>

using namespace autopar;
using namespace autopar::checkpoint;

namespace {

/// The number and size of the tensors of one dtype.
struct Share {
  std::string dtype;
  int64_t tensors = 0;
  Checked elements, bytes;
};

class Description {
public:
  explicit Description(const CheckpointIndex &checkpoint)
      : checkpoint(checkpoint),
        gguf(checkpoint.format == CheckpointFormat::gguf) {}

  std::string write() {
    count();
    text = std::string(nameOf(checkpoint.format)) + ", " +
           countOf(checkpoint.files.size(), "file") + " read, " +
           std::to_string(checkpoint.unreadFiles.size()) + " not read\n";
    writeModel();
    line("tensors",
         formatInteger(static_cast<int64_t>(checkpoint.tensors.size())));
    line("bytes", bytesText());
    writeParameters();
    writeLayers();
    writeShares();
    for (const std::string &note : checkpoint.notes)
      text += "note: " + note + "\n";
    return std::move(text);
  }

private:
  void count() {
    std::map<std::string_view, size_t> places;
    for (const CheckpointTensor &tensor : checkpoint.tensors) {
      if (!tensor.known())
        continue;
      auto [place, added] = places.emplace(tensor.dtype, shares.size());
      if (added)
        shares.push_back({tensor.dtype, 0, 0, 0});
      Share &share = shares[place->second];
      Checked elements = 1;
      for (int64_t size : tensor.shape)
        elements *= size;
      ++share.tensors;
      share.elements += elements;
      share.bytes += tensor.bytes;
    }
    std::sort(shares.begin(), shares.end(), [](const Share &a, const Share &b) {
      return a.bytes == b.bytes ? a.dtype < b.dtype : a.bytes > b.bytes;
    });
  }

  void line(std::string name, const std::string &value) {
    name.resize(16, ' ');
    text += "  " + name + value + "\n";
  }

  void metadataLine(const std::string &name, const std::string &key) {
    std::string value = checkpoint.metadataOr(key);
    line(name, value.empty() ? "unknown" : shorten(value));
  }

  void writeModel() {
    if (!gguf)
      return line("architecture", "unknown: this format does not store it");
    std::string architecture = checkpoint.metadataOr("general.architecture");
    metadataLine("name", "general.name");
    metadataLine("architecture", "general.architecture");
    metadataLine("context length", architecture + ".context_length");
    metadataLine("blocks", architecture + ".block_count");
  }

  std::string bytesText() const {
    if (!checkpoint.unknown())
      return withUnit(checkpoint.bytes());
    std::string names = "; of " + countOf(checkpoint.unknown(), "tensor") +
                        " only the name is known";
    return (checkpoint.totalSize
                ? withUnit(*checkpoint.totalSize) + " by the index"
                : "unknown") +
           names;
  }

  static std::string withUnit(Checked bytes) {
    return formatInteger(bytes) + " (" + formatBytes(bytes) + ")";
  }

  /// Whether tensors of this dtype hold parameters. Outside of GGUF, integers
  /// are indices, or values packed in ways that the file does not tell.
  bool holdsParameters(const Share &share) const {
    return gguf || share.dtype[0] == 'F' || share.dtype == "BF16";
  }

  void writeParameters() {
    if (checkpoint.unknown()) {
      std::string stated = checkpoint.metadataOr("total_parameters");
      return line("parameters", stated.empty() ? "unknown: no shapes"
                                               : stated + " by the index");
    }
    Checked counted, hidden;
    for (const Share &share : shares)
      (holdsParameters(share) ? counted : hidden) += share.elements;
    line("parameters",
         formatInteger(counted) +
             (hidden > 0 ? " in floating point, and unknown in " +
                               formatInteger(hidden) + " elements of integers"
                         : ""));
  }

  /// Writes the numbers of layers: for each beginning of names before the first
  /// number, the numbers that occur.
  void writeLayers() {
    std::map<std::string, std::set<uint64_t>> stacks;
    for (const CheckpointTensor &tensor : checkpoint.tensors) {
      NumberedName name = splitNumbers(tensor.name);
      if (!name.numbers.empty())
        stacks[name.texts.front()].insert(name.numbers.front());
    }
    constexpr size_t shown = 8;
    size_t lines = 0;
    for (auto &[prefix, numbers] : stacks) {
      if (lines++ == shown) {
        line("", "... and " + std::to_string(stacks.size() - shown) + " more");
        break;
      }
      line(lines == 1 ? "layers by name" : "",
           std::to_string(numbers.size()) + " of " + shorten(prefix + "*"));
    }
    if (stacks.empty())
      line("layers by name", "unknown: no name has a number");
  }

  void writeShares() {
    if (shares.empty())
      return;
    text += "\n";
    columns("dtype", "tensors", "elements", "bytes", "of bytes");
    for (const Share &share : shares)
      columns(share.dtype, formatInteger(share.tensors),
              formatInteger(share.elements), formatInteger(share.bytes),
              percent(share.bytes));
  }

  std::string percent(Checked bytes) const {
    Checked all = checkpoint.bytes();
    if (all == 0)
      return "-";
    return formatNumber(floorDiv(bytes * 1000 + floorDiv(all, 2), all).real() /
                        10) +
           "%";
  }

  void columns(const std::string &dtype, const std::string &tensors,
               const std::string &elements, const std::string &bytes,
               const std::string &part) {
    char buffer[160];
    std::snprintf(buffer, sizeof(buffer), "  %-12s %9s %22s %22s %9s\n",
                  dtype.c_str(), tensors.c_str(), elements.c_str(),
                  bytes.c_str(), part.c_str());
    text += buffer;
  }

  const CheckpointIndex &checkpoint;
  bool gguf;
  /// The shares of dtypes, largest first.
  std::vector<Share> shares;
  std::string text;
};

} // namespace

std::string
autopar::checkpoint::describeWeights(const CheckpointIndex &checkpoint) {
  return Description(checkpoint).write();
}
