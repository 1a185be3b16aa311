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

/// Returns the layers of the stack in order, each as an index into
/// `LayerStack::layers`. Errors: a program without a stack; more than
/// `limits::maxLayers` layers.
Result<std::vector<uint32_t>> layersInOrder(const CostProgram &program);

/// How often each layer kind is run, by index into `CostProgram::layers`.
using KindCounts = std::vector<int64_t>;

void addKinds(const std::vector<KindCount> &kinds, KindCounts &counts);

/// Whether operations before the layers of the stack and operations after them
/// use `resident`, so that the first and the last stage each hold a copy.
bool isCopied(const CostProgram &program, const Resident &resident);
/// Whether `resident` is used by some layers of the stack, and also by other
/// operations or layers.
bool isSharedByLayers(const CostProgram &program, const Resident &resident);

/// Returns the first and the last place in `order` of layers that share a KV
/// cache; nothing if no layers do. A stage that began between them would read
/// rows that another stage has.
std::optional<std::pair<size_t, size_t>>
layersOfSharedCaches(const CostProgram &program,
                     const std::vector<uint32_t> &order);

/// Which layers a pipeline stage runs in a pass. Elementwise kernels before a
/// border of the stack belong to the layer after it, because runtimes hand over
/// a sum that the next norm adds up. Summed over all stages, the launches are
/// those of the whole program.
struct PartCounts {
  PartCounts() = default;
  explicit PartCounts(const CostProgram &program)
      : kinds(program.layers.size()), into(program.borders.size()),
        outOf(program.borders.size()) {}

  KindCounts kinds;
  /// For each border between layers of the stack, how often the stage runs the
  /// layer after it (`into`) and the layer before it (`outOf`).
  std::vector<int64_t> into, outOf;

  bool operator<(const PartCounts &other) const {
    return std::tie(kinds, into, outOf) <
           std::tie(other.kinds, other.into, other.outOf);
  }
};

/// Returns the index of the border that leads into position `place` of the
/// stack; nothing if there is none. Position 0 has the operations before the
/// layers of `order`, position i the i-th layer, and the last position the
/// operations after all layers.
std::optional<uint32_t> borderInto(const CostProgram &program,
                                   const std::vector<uint32_t> &order,
                                   size_t place);
/// Adds the positions `begin` to `end` - 1 of the stack to `part`. With
/// `borders`, elementwise kernels before a border are launched with the layer
/// after it.
void addPlaces(const CostProgram &program, const std::vector<uint32_t> &order,
               size_t begin, size_t end, bool borders, PartCounts &part);

} // namespace autopar::program

#endif // AUTOPAR_PROGRAM_STAGES_H
