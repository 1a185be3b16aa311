//===- LayerKinds.cpp -----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LayerKinds.h"

#include <algorithm>
#include <tuple>

using namespace autopar;
using namespace autopar::checkpoint;

namespace {

/// The parts of a tensor's name: "model.layers.3.mlp.up.weight" has the prefix
/// "model.layers", layer 3 and the rest "mlp.up.weight". An empty rest means
/// that the name has no number between dots.
struct NameParts {
  std::string prefix, rest;
  int64_t layer = 0;
};

/// Largest number of digits in the number of a layer or an expert.
constexpr size_t mostDigits = 5;

} // namespace

static bool isNumber(const std::string &word) {
  return !word.empty() && word.size() <= mostDigits &&
         word.find_first_not_of("0123456789") == std::string::npos;
}

static NameParts splitName(const std::string &name) {
  for (size_t at = 0; (at = name.find('.', at)) != std::string::npos;) {
    size_t end = name.find('.', ++at);
    std::string word = name.substr(at, end - at);
    if (end != std::string::npos && isNumber(word))
      return {name.substr(0, at - 1), name.substr(end + 1), std::stoll(word)};
  }
  return {};
}

/// Replaces the number after "experts." or "expert_" by "*"; returns whether
/// there is one.
static bool maskExpert(std::string &name) {
  for (std::string_view word : {"experts.", "expert_"}) {
    size_t at = name.find(word);
    if (at == std::string::npos)
      continue;
    size_t start = at + word.size(), end = name.find('.', start);
    if (end == std::string::npos || !isNumber(name.substr(start, end - start)))
      continue;
    name = name.substr(0, start) + "*" + name.substr(end);
    return true;
  }
  return false;
}

static void addTo(TensorGroups &groups, std::string name,
                  const CheckpointTensor &tensor) {
  // Experts with several shapes stay separate tensors, with their numbers.
  std::string masked = name;
  bool isExpert = maskExpert(masked);
  auto known = groups.find(masked);
  bool differs =
      known != groups.end() && (known->second.shape != tensor.shape ||
                                known->second.dtype != tensor.dtype);
  TensorGroup &group = groups[isExpert && !differs ? masked : name];
  group.shape = tensor.shape;
  group.dtype = tensor.dtype;
  if (isExpert && !differs)
    ++group.experts;
}

/// Whether `prefix` contains a word for an encoder, which produces no text.
static bool isEncoder(const std::string &prefix) {
  for (const char *word : {"encoder", "vision", "visual", "audio", "image",
                           "tower", "vit.", "speech", "sam_"})
    if (prefix.find(word) != std::string::npos)
      return true;
  return false;
}

static int64_t elementsOf(const CheckpointTensor &tensor) {
  int64_t elements = 1;
  for (int64_t size : tensor.shape)
    elements *= size;
  return elements;
}

/// Returns the prefix of the stack of layers with the most elements; an
/// encoder's only if there is no other stack.
static std::string findPrefix(const CheckpointIndex &checkpoint) {
  std::map<std::string, int64_t> elements;
  for (const CheckpointTensor &tensor : checkpoint.tensors)
    if (NameParts parts = splitName(tensor.name); !parts.rest.empty())
      elements[parts.prefix] += elementsOf(tensor);
  auto rank = [&](const std::string &prefix, int64_t size) {
    return std::tuple(!isEncoder(prefix), size, prefix);
  };
  std::string best;
  for (const auto &[prefix, size] : elements)
    if (best.empty() || rank(prefix, size) > rank(best, elements[best]))
      best = prefix;
  return best;
}

static bool haveSameTensors(const TensorGroups &a, const TensorGroups &b) {
  return std::equal(
      a.begin(), a.end(), b.begin(), b.end(), [](auto &one, auto &other) {
        const TensorGroup &first = one.second, &second = other.second;
        return one.first == other.first && first.shape == second.shape &&
               first.dtype == second.dtype && first.experts == second.experts;
      });
}

SortedCheckpoint
autopar::checkpoint::sortIntoLayers(const CheckpointIndex &checkpoint) {
  SortedCheckpoint sorted;
  sorted.prefix = findPrefix(checkpoint);
  std::map<int64_t, TensorGroups> layers;
  for (const CheckpointTensor &tensor : checkpoint.tensors) {
    NameParts parts = splitName(tensor.name);
    if (!parts.rest.empty() && parts.prefix == sorted.prefix)
      addTo(layers[parts.layer], parts.rest, tensor);
    else
      addTo(sorted.outer, tensor.name, tensor);
  }
  for (auto &[layer, tensors] : layers) {
    auto same = [&tensors = tensors](const LayerKind &kind) {
      return haveSameTensors(kind.tensors, tensors);
    };
    auto kind = std::find_if(sorted.kinds.begin(), sorted.kinds.end(), same);
    if (kind == sorted.kinds.end())
      kind = sorted.kinds.insert(kind, {{}, std::move(tensors)});
    kind->layers.push_back(layer);
    sorted.layers = std::max(sorted.layers, layer + 1);
  }
  return sorted;
}

TensorGroups autopar::checkpoint::takeLayersFrom(SortedCheckpoint &sorted,
                                                 int64_t count) {
  TensorGroups taken;
  for (LayerKind &kind : sorted.kinds) {
    auto first =
        std::lower_bound(kind.layers.begin(), kind.layers.end(), count);
    for (auto layer = first; layer != kind.layers.end(); ++layer)
      for (const auto &[name, group] : kind.tensors)
        taken[sorted.prefix + "." + std::to_string(*layer) + "." + name] =
            group;
    kind.layers.erase(first, kind.layers.end());
  }
  auto isEmpty = [](const LayerKind &kind) { return kind.layers.empty(); };
  sorted.kinds.erase(
      std::remove_if(sorted.kinds.begin(), sorted.kinds.end(), isEmpty),
      sorted.kinds.end());
  sorted.layers = std::min(sorted.layers, count);
  return taken;
}
