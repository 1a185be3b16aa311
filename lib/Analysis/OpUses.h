//===- OpUses.h - Purposes of a step's ops ----------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_ANALYSIS_OPUSES_H
#define AUTOPAR_LIB_ANALYSIS_OPUSES_H

#include "autopar/Program/CostProgram.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseSet.h"

namespace autopar::analysis {

/// Returns the axes of the mesh of `module` that have a single device.
llvm::DenseSet<mlir::StringAttr> findNeutralAxes(mlir::ModuleOp module);

/// Whether a backward recomputes `op` from saved values without the matmuls
/// next to it. The matmuls' curves include the op, so that its own time counts
/// only then.
bool isMadeAlone(mlir::Operation *op, program::Section section);

/// The ops of `block` that neither lead to its routed experts nor read their
/// results; none in a block without routed experts.
llvm::DenseSet<mlir::Operation *> findOpsBesideExperts(mlir::Block &block);

/// Whether a collective moves only weights, or only their gradients.
bool isOfWeights(mlir::Operation *op, program::Section section);

/// Whether a collective of a backward gathers an input only for the gradients
/// of weights, or sums the gradient of an input.
bool isOfInputs(mlir::Operation *op, program::Section section);

} // namespace autopar::analysis

#endif // AUTOPAR_LIB_ANALYSIS_OPUSES_H
