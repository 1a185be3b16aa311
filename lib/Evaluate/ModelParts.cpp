//===- ModelParts.cpp -----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ModelParts.h"

#include <algorithm>
#include <unordered_map>

using namespace autopar;
using namespace autopar::evaluation;
using namespace autopar::program;

const char *autopar::evaluation::nameOf(ModelPart part) {
  static constexpr const char *names[modelPartCount] = {
      "embedding",    "encoder", "attention",  "recurrence",
      "feed_forward", "router",  "experts",    "norms",
      "other",        "head",    "stored_only"};
  return names[static_cast<size_t>(part)];
}

/// Returns the part of the model whose core is the token mixer `kernel`;
/// `other` if it is the core of none.
static ModelPart mixerOf(const Kernel &kernel) {
  if (kernel.flopClass == FlopClass::attention ||
      kernel.kind == KernelKind::attention ||
      kernel.kind == KernelKind::encoder_attention ||
      kernel.kind == KernelKind::latent_attention ||
      kernel.kind == KernelKind::sparse_attention ||
      kernel.kind == KernelKind::index)
    return ModelPart::attention;
  if (kernel.flopClass == FlopClass::recurrence || isScan(kernel.kind))
    return ModelPart::recurrence;
  return ModelPart::other;
}

ModelParts::ModelParts(const CostProgram &program)
    : program(program), readers(program.kernels.size()),
      mixers(program.kernels.size(), ModelPart::other) {
  connect();
  for (size_t i = 0; i < program.kernels.size(); ++i)
    if (mixerOf(program.kernels[i]) != ModelPart::other)
      markMixer(i);
}

/// Connects the kernels that write values with the kernels that read them. A
/// value belongs to the first kernel that writes it, because an attention
/// writes its keys and values again, into the cache.
void ModelParts::connect() {
  std::unordered_map<uint32_t, size_t> writers;
  for (size_t i = 0; i < program.kernels.size(); ++i)
    for (const Traffic &traffic : program.kernels[i].traffic) {
      if (traffic.value == 0 || traffic.role != Traffic::Role::activation)
        continue;
      auto writer = writers.find(traffic.value);
      if (writer != writers.end() && writer->second != i)
        readers[writer->second].push_back(i);
      else if (writer == writers.end() && traffic.write)
        writers[traffic.value] = i;
    }
}

/// Marks the kernels of the layer from `mixer` up to the next matmuls of
/// weights.
std::vector<bool> ModelParts::findOutput(size_t mixer) const {
  std::vector<bool> found(program.kernels.size());
  std::vector<size_t> open = {mixer};
  found[mixer] = true;
  while (!open.empty()) {
    size_t at = open.back();
    open.pop_back();
    if (at != mixer && program.kernels[at].kind == KernelKind::matmul &&
        program.kernels[at].op != program.kernels[mixer].op)
      continue;
    for (size_t next : readers[at])
      if (!found[next] &&
          program.kernels[next].layer == program.kernels[mixer].layer) {
        found[next] = true;
        open.push_back(next);
      }
  }
  return found;
}

void ModelParts::markMixer(size_t mixer) {
  std::vector<bool> members = findOutput(mixer);
  for (size_t i = members.size(); i-- > 0;) {
    if (program.kernels[i].layer != program.kernels[mixer].layer)
      continue;
    members[i] = members[i] ||
                 program.kernels[i].op == program.kernels[mixer].op ||
                 (!readers[i].empty() &&
                  std::all_of(readers[i].begin(), readers[i].end(),
                              [&](size_t reader) { return members[reader]; }));
    if (members[i] && mixers[i] == ModelPart::other)
      mixers[i] = mixerOf(program.kernels[mixer]);
  }
}

/// Returns whether `kernel` works on what an encoder encodes, and not on
/// tokens.
bool ModelParts::encodes(const Kernel &kernel) const {
  bool source = false, query = false;
  for (const Traffic &traffic : kernel.traffic)
    if (traffic.role == Traffic::Role::activation)
      for (const Dim &dim : traffic.shape)
        for (SymbolId symbol : dim.extent.symbols) {
          source |= program.symbols[symbol] == "encoder_tokens";
          query |= program.symbols[symbol] == "query";
        }
  return source && !query;
}

/// Returns whether the dispatch of tokens and the combination of results follow
/// the kernel.
bool ModelParts::routes(size_t kernel) const {
  return std::count_if(
             readers[kernel].begin(), readers[kernel].end(),
             [&](size_t reader) { return program.kernels[reader].routed; }) > 1;
}

ModelPart ModelParts::partOf(size_t index) const {
  const Kernel &kernel = program.kernels[index];
  if (encodes(kernel))
    return ModelPart::encoder;
  if (kernel.flopClass == FlopClass::logits)
    return ModelPart::head;
  if (kernel.kind == KernelKind::gather)
    return ModelPart::embedding;
  if (kernel.kind == KernelKind::grouped_matmul)
    return ModelPart::experts;
  if (kernel.kind == KernelKind::elementwise || isHyper(kernel.kind))
    return ModelPart::norms;
  if (mixers[index] != ModelPart::other)
    return mixers[index];
  if (routes(index))
    return ModelPart::router;
  return program.isModel(kernel.layer) ? ModelPart::other
                                       : ModelPart::feed_forward;
}

ModelPart ModelParts::of(const Resident &weight) const {
  if (weight.stored)
    return ModelPart::stored_only;
  return weight.user ? partOf(*weight.user) : ModelPart::other;
}
