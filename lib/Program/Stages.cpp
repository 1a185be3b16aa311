//===- Stages.cpp ---------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Program/Stages.h"

#include "autopar/Support/Checked.h"
#include "autopar/Support/Limits.h"
#include "autopar/Support/Text.h"

#include <algorithm>

using namespace autopar;
using namespace autopar::program;

Result<std::vector<uint32_t>>
autopar::program::layersInOrder(const CostProgram &program) {
  Checked total;
  for (const LayerStack::Run &run : program.stack.runs)
    for (auto [layer, times] : run.layers)
      total += Checked(times) * run.count;
  if (program.stack.runs.empty())
    return Error{
        "", "'" + program.model + "' has no layers that stages could divide",
        "layers are calls in the last loops of the public function"};
  if (total > limits::maxLayers)
    return Error{"",
                 "'" + program.model + "' has " + total.str() +
                     " layers, of which stages divide at most " +
                     formatInteger(limits::maxLayers),
                 ""};
  std::vector<uint32_t> order;
  for (const LayerStack::Run &run : program.stack.runs)
    for (int64_t i = 0; i < run.count; ++i)
      for (auto [layer, times] : run.layers)
        order.insert(order.end(), times, layer);
  return order;
}

void autopar::program::addKinds(const std::vector<KindCount> &kinds,
                                KindCounts &counts) {
  for (const KindCount &kind : kinds)
    counts[kind.layer] += kind.count;
}

static bool use(const std::vector<KindCount> &kinds, uint32_t layer) {
  return std::any_of(kinds.begin(), kinds.end(), [&](const KindCount &kind) {
    return kind.layer == layer && kind.count > 0;
  });
}

static bool use(const std::vector<KindCount> &kinds, const Resident &resident) {
  return use(kinds, resident.layer) ||
         std::any_of(resident.readers.begin(), resident.readers.end(),
                     [&](uint32_t reader) { return use(kinds, reader); });
}

bool autopar::program::isCopied(const CostProgram &program,
                                const Resident &resident) {
  return use(program.stack.before, resident) &&
         use(program.stack.after, resident);
}

bool autopar::program::isSharedByLayers(const CostProgram &program,
                                        const Resident &resident) {
  auto isElsewhere = [&](const LayerStack::Layer &layer, uint32_t reader) {
    return program.layers[reader].section == Section::forward &&
           use(layer.kinds, reader) != use(layer.kinds, resident.layer);
  };
  const std::vector<LayerStack::Layer> &layers = program.stack.layers;
  return std::any_of(
      layers.begin(), layers.end(), [&](const LayerStack::Layer &layer) {
        return std::any_of(
            resident.readers.begin(), resident.readers.end(),
            [&](uint32_t reader) { return isElsewhere(layer, reader); });
      });
}

std::optional<std::pair<size_t, size_t>>
autopar::program::layersOfSharedCaches(const CostProgram &program,
                                       const std::vector<uint32_t> &order) {
  std::optional<std::pair<size_t, size_t>> layers;
  for (const Resident &resident : program.residents) {
    if (resident.kind != Resident::Kind::kv_cache || resident.readers.empty())
      continue;
    for (size_t place = 0; place < order.size(); ++place) {
      if (!use(program.stack.layers[order[place]].kinds, resident))
        continue;
      if (!layers)
        layers = {place, place};
      layers->first = std::min(layers->first, place);
      layers->second = std::max(layers->second, place);
    }
  }
  return layers;
}

std::optional<uint32_t>
autopar::program::borderInto(const CostProgram &program,
                             const std::vector<uint32_t> &order, size_t place) {
  const LayerStack &stack = program.stack;
  if (place == 0 || place > order.size() + 1)
    return std::nullopt;
  std::optional<uint32_t> before =
      place == 1 ? stack.tailBefore : stack.layers[order[place - 2]].ends.tail;
  std::optional<uint32_t> after =
      place > order.size() ? stack.headAfter
                           : stack.layers[order[place - 1]].ends.head;
  for (uint32_t i = 0; before && after && i < program.borders.size(); ++i) {
    const Border &border = program.borders[i];
    if (!border.layer && border.before == *before && border.after == *after)
      return i;
  }
  return std::nullopt;
}

void autopar::program::addPlaces(const CostProgram &program,
                                 const std::vector<uint32_t> &order,
                                 size_t begin, size_t end, bool borders,
                                 PartCounts &part) {
  const LayerStack &stack = program.stack;
  for (size_t place = begin; place < end; ++place) {
    addKinds(place == 0             ? stack.before
             : place > order.size() ? stack.after
                                    : stack.layers[order[place - 1]].kinds,
             part.kinds);
    if (!borders)
      continue;
    if (auto border = borderInto(program, order, place))
      ++part.into[*border];
    if (auto border = borderInto(program, order, place + 1))
      ++part.outOf[*border];
  }
}
