//===- Stages.h - Parts of a cost program -----------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_PROGRAM_STAGES_H
#define AUTOPAR_PROGRAM_STAGES_H

#include "autopar/Program/CostProgram.h"
#include "autopar/Support/Result.h"

#include <tuple>

namespace autopar::program {

/// The layers of the stack in order, each an index into `LayerStack::layers`.
/// Errors: a program without a stack; more than `limits::maxLayers` layers.
Result<std::vector<uint32_t>> layersInOrder(const CostProgram &program);

/// How often something runs each of `CostProgram::layers`.
using KindCounts = std::vector<int64_t>;

void addKinds(const std::vector<KindCount> &kinds, KindCounts &counts);

/// Whether what lies before the layers of the stack and what follows them both
/// use `resident`: the first stage and the last have a copy each.
bool isCopied(const CostProgram &program, const Resident &resident);
/// Whether some layers of the stack use `resident`, and something else does.
bool isSharedByLayers(const CostProgram &program, const Resident &resident);

/// What a part of a program runs in a pass. The run before a border of the
/// stack goes with the layer after it, as engines hand over a sum that the next
/// norm adds up: parts of all places together launch what the program does.
struct PartCounts {
  PartCounts() = default;
  explicit PartCounts(const CostProgram &program)
      : kinds(program.layers.size()), into(program.borders.size()),
        outOf(program.borders.size()) {}

  KindCounts kinds;
  /// How often each border between layers of the stack leads to a layer of the
  /// part, and from one.
  std::vector<int64_t> into, outOf;

  bool operator<(const PartCounts &other) const {
    return std::tie(kinds, into, outOf) <
           std::tie(other.kinds, other.into, other.outOf);
  }
};

/// Index of the border over which place `place` of the stack is entered;
/// nothing where there is none. Place 0 is what lies before the layers of
/// `order`, place i the i-th of them, and one more what follows.
std::optional<uint32_t> borderInto(const CostProgram &program,
                                   const std::vector<uint32_t> &order,
                                   size_t place);
/// Adds places `begin` to `end` - 1 of the stack to `part`. With `borders`, a
/// run before a border is launched where that leads to.
void addPlaces(const CostProgram &program, const std::vector<uint32_t> &order,
               size_t begin, size_t end, bool borders, PartCounts &part);

} // namespace autopar::program

#endif // AUTOPAR_PROGRAM_STAGES_H
