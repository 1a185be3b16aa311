//===- Borders.cpp --------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Borders.h"

using namespace autopar;
using namespace autopar::analysis;
using namespace autopar::program;

ValueNumbers autopar::analysis::compose(ValueNumbers numbers,
                                        const ValueNumbers &further) {
  llvm::SmallDenseMap<uint32_t, uint32_t> known;
  for (auto [value, here] : numbers)
    known[value] = here;
  for (auto [value, there] : further) {
    for (auto &[unused, here] : numbers)
      if (here == value)
        here = there;
    if (known.try_emplace(value, there).second)
      numbers.push_back({value, there});
  }
  return numbers;
}

/// Whether the run of elementwise kernels that ends with kernel `last` reads or
/// writes `value`.
bool Borders::touches(uint32_t last, uint32_t value) const {
  const std::vector<Kernel> &kernels = program.kernels;
  for (size_t i = last + 1; i-- > 0;) {
    if (!areOneRun(kernels[i], kernels[last]))
      return false;
    for (const Traffic &traffic : kernels[i].traffic)
      if (traffic.value == value)
        return true;
  }
  return false;
}

/// Whether two runs of kernels may be joined: neither is joined with a third
/// one already.
bool Borders::isFree(const Kernel &before, const Kernel &after) const {
  return llvm::none_of(program.borders, [&](const Border &border) {
    return areOneRun(program.kernels[border.after], before) ||
           areOneRun(program.kernels[border.before], after);
  });
}

void Borders::add(const RunEnds &before, const Launches &after, int64_t count,
                  std::optional<uint32_t> layer) {
  if (!before.tail || !after.ends.head || count <= 0)
    return;
  uint32_t tail = *before.tail, head = *after.ends.head;
  if (areOneRun(program.kernels[tail], program.kernels[head]) ||
      !isFree(program.kernels[tail], program.kernels[head]))
    return;
  for (Border &border : program.borders)
    if (border.before == tail && border.after == head &&
        border.layer == layer) {
      border.count += count;
      return;
    }
  Border border{tail, head, count, layer};
  for (auto [value, here] : after.values)
    if (value != here && (touches(tail, value) || touches(tail, here)))
      border.values.emplace_back(value, here);
  program.borders.push_back(std::move(border));
}

void Borders::append(Launches &before, const Launches &after, int64_t count,
                     std::optional<uint32_t> layer) {
  if (after.isEmpty)
    return;
  if (before.isEmpty) {
    before = after;
    return;
  }
  add(before.ends, after, count, layer);
  before.ends.tail = after.ends.tail;
  before.endsInStack = after.endsInStack;
}
