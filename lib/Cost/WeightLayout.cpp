//===- WeightLayout.cpp - Weights as kernels lay them out
//------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Formulas.h"

#include <algorithm>

using namespace autopar;
using namespace autopar::cost;
using namespace autopar::program;

using Use = FigureUse::Kind;

/// Returns whether `dims` of a matmul of experts are the model's hidden extent,
/// which is never split. Tensor parallelism splits the intermediate extent.
static bool isHidden(const Dims &dims, const CostProgram &program) {
  auto isLogits = [](const Kernel &kernel) {
    return kernel.flopClass == FlopClass::logits;
  };
  auto head =
      std::find_if(program.kernels.begin(), program.kernels.end(), isLogits);
  bool isSplit = std::any_of(dims.begin(), dims.end(),
                             [](const Dim &dim) { return !dim.axes.empty(); });
  return head != program.kernels.end() && !isSplit && dims.size() == 1 &&
         head->contraction.size() == 1 &&
         dims[0].extent == head->contraction[0].extent;
}

Expr autopar::cost::laidOut(Formulas &formulas, const Resident &weight,
                            Expr local) {
  const CostProgram &program = formulas.program;
  if (weight.kind != Resident::Kind::weight || !weight.values || !weight.user)
    return local;
  const Kernel &kernel = program.kernels[*weight.user];
  if (kernel.kind != KernelKind::grouped_matmul ||
      kernel.storage != ElementType::fp4)
    return local;
  // One of the two extents of the matrix is the hidden one, even if both are
  // equally long.
  bool isRowHidden = isHidden(kernel.contraction, program);
  // A runtime that is not read from a file has multiples of 0, which count as
  // 1.
  auto multiple = [&](Use use) {
    return max(formulas.number(1), formulas.whole(use));
  };
  Expr hidden = multiple(Use::expert_hidden_multiple);
  Expr other = multiple(Use::expert_intermediate_multiple);
  auto stored = [&](const Dims &dims) {
    return max(formulas.number(1),
               formulas.localPaged(dims, -1, formulas.step));
  };
  Expr columns = stored(kernel.columns), rows = stored(kernel.contraction);
  Expr filled = roundUp(rows, isRowHidden ? hidden : other);
  bool hasValues =
      !weight.values->empty() && weight.values->front().extent.factor != 0;
  if (hasValues)
    filled = roundUp(filled, multiple(Use::expert_contraction_multiple));
  return local.apply(Op::scale,
                     roundUp(columns, isRowHidden ? other : hidden) * filled,
                     columns * rows);
}
