//===- SectionKinds.cpp ---------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SectionKinds.h"

using namespace autopar;
using namespace autopar::analysis;
using namespace autopar::program;
using namespace mlir;

void SectionKinds::addEnds(Section section, uint32_t first, uint32_t last) {
  bool isReversed = section == Section::backward;
  (isReversed ? after : before).push_back({first, 1});
  if (last != first)
    (isReversed ? before : after).push_back({last, 1});
}

/// Adds the backwards and updates of those functions whose layer kinds are in
/// `layer`.
void SectionKinds::addParts(std::vector<KindCount> &layer) const {
  llvm::DenseMap<uint32_t, int64_t> counts;
  for (const KindCount &kind : layer)
    counts[kind.layer] = kind.count;
  std::vector<KindCount> parts;
  for (auto [function, kind] : kinds) {
    FunctionOpInterface whole = findWhole(cast<FunctionOpInterface>(function));
    auto owner = kinds.find(whole);
    if (whole == entry || whole.getOperation() == function ||
        owner == kinds.end())
      continue;
    if (int64_t count = counts.lookup(owner->second))
      parts.push_back({kind, count});
  }
  llvm::sort(parts, [](const KindCount &a, const KindCount &b) {
    return a.layer < b.layer;
  });
  layer.insert(layer.end(), parts.begin(), parts.end());
}

void SectionKinds::finish() {
  LayerStack &stack = program.stack;
  if (stack.runs.empty())
    return;
  for (LayerStack::Layer &layer : stack.layers)
    addParts(layer.kinds);
  addParts(stack.before);
  addParts(stack.after);
  stack.before.insert(stack.before.end(), before.begin(), before.end());
  stack.after.insert(stack.after.end(), after.begin(), after.end());
}
