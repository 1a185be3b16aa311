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

Result<std::vector<uint32_t>>
autopar::layersInOrder(const CostProgram &program) {
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

void autopar::addKinds(const std::vector<KindCount> &kinds,
                       KindCounts &counts) {
  for (const KindCount &kind : kinds)
    counts[kind.layer] += kind.count;
}

std::optional<uint32_t> autopar::borderInto(const CostProgram &program,
                                            const std::vector<uint32_t> &order,
                                            size_t place) {
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

void autopar::addPlaces(const CostProgram &program,
                        const std::vector<uint32_t> &order, size_t begin,
                        size_t end, bool borders, PartCounts &part) {
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

namespace {

class Selection {
public:
  Selection(const CostProgram &program, const PartCounts &part)
      : program(program), part(part), counts(part.kinds) {}

  /// How often the part runs, in a pass, a record that a step of the whole
  /// runs `count` times.
  int64_t countOf(uint32_t layer, int64_t count) const {
    int64_t all = program.layers[layer].count;
    return all == 0 ? 0 : count / all * counts[layer];
  }

  /// Runs before borders are where those lead to.
  int64_t countOf(const Kernel &kernel) const {
    int64_t count = countOf(kernel.layer, kernel.count);
    for (size_t i = 0; i < program.borders.size(); ++i)
      if (areOneRun(program.kernels[program.borders[i].before], kernel))
        count += part.into[i] - part.outOf[i];
    return count;
  }

  int64_t countOf(size_t border) const {
    const Border &record = program.borders[border];
    return record.layer ? countOf(*record.layer, record.count)
                        : part.into[border];
  }

  int64_t countOf(const Resident &resident) const {
    if (int64_t own = countOf(resident.layer, resident.count))
      return own;
    bool isRead =
        std::any_of(resident.readers.begin(), resident.readers.end(),
                    [&](uint32_t reader) { return counts[reader] > 0; });
    return isRead ? resident.count : 0;
  }

  /// Whether a buffer is live while the part runs.
  bool holds(const Activation &activation) const {
    for (size_t i = 0; i < counts.size(); ++i)
      if (counts[i] > 0 && activation.begin <= program.layers[i].end &&
          program.layers[i].begin <= activation.end)
        return true;
    return false;
  }

private:
  const CostProgram &program;
  const PartCounts &part;
  const KindCounts &counts;
};

} // namespace

CostProgram autopar::selectLayers(const CostProgram &program,
                                  const PartCounts &counts, int64_t passes) {
  Selection selection(program, counts);
  CostProgram part = program;
  for (Kernel &kernel : part.kernels)
    kernel.count = selection.countOf(kernel) * passes;
  for (size_t i = 0; i < part.borders.size(); ++i)
    part.borders[i].count = selection.countOf(i) * passes;
  for (Collective &collective : part.collectives)
    collective.count =
        selection.countOf(collective.layer, collective.count) * passes;
  for (Resident &resident : part.residents)
    resident.count = selection.countOf(resident);
  auto &buffers = part.activations;
  buffers.erase(std::remove_if(buffers.begin(), buffers.end(),
                               [&](const Activation &activation) {
                                 return !selection.holds(activation);
                               }),
                buffers.end());
  for (size_t i = 0; i < counts.kinds.size(); ++i)
    part.layers[i].count = counts.kinds[i] * passes;
  return part;
}
