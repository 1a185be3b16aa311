//===- Verify.cpp ---------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Checkpoint/Verify.h"

#include "Buffers.h"
#include "NameRuns.h"
#include "StorageTypes.h"

#include "autopar/Support/Text.h"

#include <unordered_map>

using namespace autopar;
using namespace autopar::checkpoint;

namespace {

class Comparison {
public:
  Comparison(const std::vector<ModelTensor> &model,
             const CheckpointIndex &checkpoint, bool strict)
      : model(model), checkpoint(checkpoint), strict(strict) {}

  Verification run() {
    compareNames();
    compareTotal();
    writeTotals();
    write(buffers, "Buffers, stored but not needed" +
                       std::string(strict ? "" : " (no difference)"));
    write(missing, "Missing in the checkpoint");
    write(extra, "Not in the model");
    write(shapes, "Shapes differ");
    write(dtypes, "Dtypes differ");
    writeNotes();
    std::string last = verdict();
    return {differences.empty(), text + last + "\n"};
  }

private:
  void compareNames() {
    std::unordered_map<std::string_view, const CheckpointTensor *> stored;
    for (const CheckpointTensor &tensor : checkpoint.tensors)
      stored.emplace(tensor.name, &tensor);
    for (const ModelTensor &tensor : model) {
      modelBytes += bytesOf(tensor);
      auto it = stored.find(tensor.name);
      if (it == stored.end()) {
        missing.add(tensor.name, describe(tensor), bytesOf(tensor));
        continue;
      }
      compare(tensor, *it->second);
      stored.erase(it);
    }
    // Tensors that only the checkpoint has are reported in the order of the
    // checkpoint.
    for (const CheckpointTensor &tensor : checkpoint.tensors)
      if (stored.count(tensor.name))
        addExtra(tensor);
  }

  static std::string describe(const ModelTensor &tensor) {
    return formatShape(tensor.shape) + " " +
           std::string(safetensorsNameOf(tensor.type));
  }

  void compare(const ModelTensor &expected, const CheckpointTensor &tensor) {
    if (!tensor.known())
      return;
    if (expected.shape != tensor.shape)
      shapes.add(tensor.name,
                 "model " + formatShape(expected.shape) + ", checkpoint " +
                     formatShape(tensor.shape),
                 tensor.bytes);
    std::string_view dtype = safetensorsNameOf(expected.type);
    if (dtype != tensor.dtype)
      dtypes.add(tensor.name,
                 "model " + std::string(dtype) + ", checkpoint " + tensor.dtype,
                 tensor.bytes);
  }

  void addExtra(const CheckpointTensor &tensor) {
    std::string what =
        tensor.known() ? formatShape(tensor.shape) + " " + tensor.dtype : "";
    std::optional<Buffer> buffer = findBuffer(tensor, model);
    if (!buffer)
      return extra.add(tensor.name, what, tensor.bytes);
    buffers.add(tensor.name,
                what + (what.empty() ? "" : ": ") + std::string(buffer->why),
                buffer->exact ? buffer->bytes : 0);
    (buffer->exact ? bufferBytes : unsizedBuffers) += buffer->bytes;
  }

  /// If only names are known, compares the total bytes that the index states
  /// with those of the model.
  void compareTotal() {
    if (!checkpoint.unknown())
      return;
    std::string unchecked = "shapes and dtypes of " +
                            countOf(checkpoint.unknown(), "tensor") +
                            " were not checked: only names are known";
    if (!checkpoint.totalSize) {
      notes.push_back(unchecked);
      return;
    }
    notes.push_back(unchecked + ", and the sum of the bytes");
    Checked left = Checked(*checkpoint.totalSize) - modelBytes - bufferBytes;
    totalDiffers =
        left < 0 || left > unsizedBuffers || (left == 0 && unsizedBuffers > 0);
    if (left == 0)
      return;
    std::string difference =
        left < 0 ? formatInteger(Checked(0) - left) + " bytes less than"
                 : formatInteger(left) + " bytes more than";
    notes.push_back("total_size is " + difference +
                    " the model and the buffers whose size is known" +
                    (totalDiffers ? "" : ": those of the other buffers"));
  }

  void writeTotals() {
    std::string parts = countOf(checkpoint.files.size(), "file");
    if (checkpoint.files.empty())
      parts = "index only";
    bool stated = checkpoint.unknown() && checkpoint.totalSize;
    row("model", model.size(), formatInteger(modelBytes) + " bytes");
    row("checkpoint", checkpoint.tensors.size(),
        stated ? formatInteger(*checkpoint.totalSize) + " bytes (total_size)"
        : checkpoint.unknown() ? "bytes unknown"
                               : formatInteger(checkpoint.bytes()) + " bytes");
    text.insert(0,
                std::string(nameOf(checkpoint.format)) + ", " + parts + "\n");
  }

  void row(std::string name, size_t count, const std::string &bytes) {
    name.resize(12, ' ');
    text += "  " + name + countOf(count, "tensor") + ", " + bytes + "\n";
  }

  void write(const NameRuns &names, const std::string &title) {
    constexpr size_t shown = 10;
    if (!names.count())
      return;
    text += "\n" + title + ": " + countText(names) + "\n";
    size_t lines = 0;
    for (const NameRun &run : names.runs()) {
      if (lines++ == shown) {
        text += "  ... and " + std::to_string(names.runs().size() - shown) +
                " more lines\n";
        break;
      }
      text += "  " + cut(run.str()) +
              (run.detail.empty() ? "" : "  " + run.detail) + "\n";
    }
  }

  /// Returns a name of at most 160 characters: names may have any length.
  static std::string cut(const std::string &name) {
    constexpr size_t most = 160;
    return name.size() > most ? name.substr(0, most) + "..." : name;
  }

  static std::string countText(const NameRuns &names) {
    std::string count = countOf(names.count(), "tensor");
    return names.bytes() > 0
               ? count + ", " + formatInteger(names.bytes()) + " bytes"
               : count;
  }

  void writeNotes() {
    notes.insert(notes.end(), checkpoint.notes.begin(), checkpoint.notes.end());
    if (!checkpoint.unreadFiles.empty())
      notes.push_back(countOf(checkpoint.unreadFiles.size(), "file") +
                      " not there, or never opened: " +
                      shorten(checkpoint.unreadFiles.front()) +
                      (checkpoint.unreadFiles.size() > 1 ? ", ..." : ""));
    text += "\n";
    for (const std::string &note : notes)
      text += "note: " + note + "\n";
  }

  std::string verdict() {
    auto add = [&](const NameRuns &names, const char *what) {
      if (names.count())
        differences.push_back(
            formatInteger(static_cast<int64_t>(names.count())) + " " + what);
    };
    add(missing, "missing in the checkpoint");
    add(extra, "not in the model");
    add(shapes, "of another shape");
    add(dtypes, "of another dtype");
    if (strict)
      add(buffers, "buffers");
    if (totalDiffers)
      differences.push_back("total_size");
    if (!differences.empty())
      return "different: " + join(differences, ", ");
    return checkpoint.unknown() ? "equal in names" + total()
                                : "equal in names, shapes, dtypes and bytes";
  }

  std::string total() const {
    return checkpoint.totalSize ? " and in the sum of bytes" : "";
  }

  const std::vector<ModelTensor> &model;
  const CheckpointIndex &checkpoint;
  bool strict;

  NameRuns missing, extra, shapes, dtypes, buffers;
  /// Bytes of the model; bytes of buffers whose size is known; upper limit of
  /// those of other buffers.
  Checked modelBytes, bufferBytes, unsizedBuffers;
  bool totalDiffers = false;
  std::vector<std::string> differences, notes;
  std::string text;
};

} // namespace

Verification
autopar::checkpoint::verifyWeights(const std::vector<ModelTensor> &model,
                                   const CheckpointIndex &checkpoint,
                                   bool strict) {
  return Comparison(model, checkpoint, strict).run();
}
