//===- OpUses.h - Purposes of a step's ops ----------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_ANALYSIS_OPUSES_H
#define AUTOPAR_LIB_ANALYSIS_OPUSES_H

#include "autopar/Program/CostProgram.h"

#include "mlir/IR/Operation.h"

namespace autopar::analysis {

/// Whether a backward recomputes `op` from saved values without the matmuls
/// around it, whose curves include it: its own time then counts.
bool isMadeAlone(mlir::Operation *op, program::Section section);

/// Whether a collective moves weights or their gradients alone.
bool isOfWeights(mlir::Operation *op, program::Section section);

/// Whether a collective of a backward gathers an input for products that make
/// gradients of weights alone, or sums the gradient of an input.
bool isOfInputs(mlir::Operation *op, program::Section section);

} // namespace autopar::analysis

#endif // AUTOPAR_LIB_ANALYSIS_OPUSES_H
