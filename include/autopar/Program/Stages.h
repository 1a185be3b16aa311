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

/// Number of runs of each of `CostProgram::layers`.
using KindCounts = std::vector<int64_t>;

void addKinds(const std::vector<KindCount> &kinds, KindCounts &counts);

/// Whether operations both before and after the layers of the stack use
/// `resident`: the first stage and the last then have a copy each.
bool isCopied(const CostProgram &program, const Resident &resident);
/// Whether some layers of the stack use `resident`, and something else does.
bool isSharedByLayers(const CostProgram &program, const Resident &resident);

/// The parts of a program that run in a pass. The run before a border of the
/// stack belongs to the layer after it, as engines hand over a sum that the
/// next norm adds up. Over all places the launches add up to those of the
/// program.
struct PartCounts {
  PartCounts() = default;
  explicit PartCounts(const CostProgram &program)
      : kinds(program.layers.size()), into(program.borders.size()),
        outOf(program.borders.size()) {}

  KindCounts kinds;
  /// For each border between layers of the stack, how often it enters and
  /// leaves a layer of the part.
  std::vector<int64_t> into, outOf;

  bool operator<(const PartCounts &other) const {
    return std::tie(kinds, into, outOf) <
           std::tie(other.kinds, other.into, other.outOf);
  }
};

/// Index of the border that enters place `place` of the stack; nothing if there
/// is none. Place 0 has the operations before the layers of `order`, place i
/// the i-th layer, and one more place the operations after them.
std::optional<uint32_t> borderInto(const CostProgram &program,
                                   const std::vector<uint32_t> &order,
                                   size_t place);
/// Adds places `begin` to `end` - 1 of the stack to `part`. With `borders`, a
/// run before a border is launched where the border leads to.
void addPlaces(const CostProgram &program, const std::vector<uint32_t> &order,
               size_t begin, size_t end, bool borders, PartCounts &part);

} // namespace autopar::program

#endif // AUTOPAR_PROGRAM_STAGES_H
