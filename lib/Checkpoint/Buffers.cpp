//===- Buffers.cpp --------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Buffers.h"

#include "NameRuns.h"

#include <algorithm>

using namespace autopar;
using namespace autopar::checkpoint;

namespace {
struct Row {
  std::string_view suffix, why;
  /// `most`: largest number of bytes. `mask`: whether the tensor is a square
  /// matrix in four dimensions.
  int64_t most;
  bool mask = false;
};
} // namespace

static constexpr std::string_view rotary = "rotary frequencies, computed from "
                                           "the config";
static constexpr std::string_view mask = "the causal mask, no weight";
static constexpr std::string_view positions = "the numbers 0, 1, 2, ...";
static constexpr int64_t mostFrequencies = 4096;
static constexpr int64_t mostTable = int64_t(1) << 30;

/// The names of buffers that models register in `transformers` and that its old
/// versions stored in checkpoints. Each suffix begins at a dot:
/// "attn.c_attn.bias" is a weight.
static constexpr Row rows[] = {
    {".rotary_emb.inv_freq", rotary, mostFrequencies},
    {".rotary_pos_emb.inv_freq", rotary, mostFrequencies},
    {".rotary_emb.cos_cached", rotary, mostTable},
    {".rotary_emb.sin_cached", rotary, mostTable},
    {".attn.bias", mask, mostTable, true},
    {".attn.attention.bias", mask, mostTable, true},
    {".attention.bias", mask, mostTable, true},
    {".masked_bias", "the value of masked scores", 16},
    {".position_ids", positions, mostTable},
};

/// The names of heads that models tie to their embedding, and of these
/// embeddings.
static constexpr std::string_view heads[] = {
    ".lm_head.weight", ".embed_out.weight", ".output.weight"};
static constexpr std::string_view embeddings[] = {
    "embed_tokens.weight", "wte.weight", "embed_in.weight",
    "word_embeddings.weight", "tok_embeddings.weight"};

static bool endsWith(std::string_view text, std::string_view suffix) {
  return text.size() >= suffix.size() &&
         text.substr(text.size() - suffix.size()) == suffix;
}

template <size_t count>
static bool endsWithAny(std::string_view text,
                        const std::string_view (&suffixes)[count]) {
  return std::any_of(suffixes, suffixes + count, [&](std::string_view suffix) {
    return endsWith(text, suffix);
  });
}

Checked autopar::checkpoint::bytesOf(const ModelTensor &tensor) {
  Checked elements = 1;
  for (int64_t size : tensor.shape)
    elements *= size;
  return ceilDiv(elements * bitsOf(tensor.type), 8);
}

/// Whether `tensor` has the size of the buffer `row`; a mask must be square:
/// [1, 1, n, n].
static bool fits(const CheckpointTensor &tensor, const Row &row) {
  if (!tensor.known())
    return true;
  const std::vector<int64_t> &shape = tensor.shape;
  return tensor.bytes <= row.most &&
         (!row.mask || (shape.size() == 4 && shape[0] == 1 && shape[1] == 1 &&
                        shape[2] == shape[3]));
}

/// Whether `name` is that of a head of the whole model, not of a layer.
static bool isHead(const std::string &name) {
  return endsWithAny("." + name, heads) && splitNumbers(name).numbers.empty();
}

static std::optional<Buffer> findHead(const CheckpointTensor &tensor,
                                      const std::vector<ModelTensor> &model) {
  if (!isHead(tensor.name))
    return std::nullopt;
  std::optional<Buffer> buffer;
  for (const ModelTensor &other : model) {
    // A model with a head of its own has no tied head.
    if (isHead(other.name))
      return std::nullopt;
    if (endsWithAny(other.name, embeddings) &&
        (!tensor.known() || tensor.shape == other.shape))
      buffer = {"a head, which the model ties to its embedding",
                tensor.known() ? Checked(tensor.bytes) : bytesOf(other)};
  }
  return buffer;
}

std::optional<Buffer>
autopar::checkpoint::findBuffer(const CheckpointTensor &tensor,
                                const std::vector<ModelTensor> &model) {
  // The suffix may also be the whole name of the tensor.
  std::string name = "." + tensor.name;
  for (const Row &row : rows)
    if (endsWith(name, row.suffix) && fits(tensor, row))
      return Buffer{row.why, tensor.known() ? tensor.bytes : row.most,
                    tensor.known()};
  return findHead(tensor, model);
}
