//===- StageBorders.h - What pipeline stages hand on ------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `parallel.stages` says which layers a stage runs, and not what it is sent:
// that follows from the uses of values, here, for costs and for execution.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_ANALYSIS_STAGEBORDERS_H
#define AUTOPAR_ANALYSIS_STAGEBORDERS_H

#include "autopar/Program/CostProgram.h"
#include "autopar/Schedule/Staging.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

namespace autopar {

/// The last loops of `entry` that follow each other directly; none where it has
/// no loop. The layers that stages divide are the calls in them.
llvm::SmallVector<mlir::LoopLikeOpInterface>
findStack(mlir::FunctionOpInterface entry);

/// Whether each stage that reads `value` has it without being sent it: a
/// weight, a cache, a state or an input of the model, laid out in any way.
bool isGiven(mlir::Value value);

/// What a stage is sent whose first layer is `call`, in the last iterations of
/// the loops `ending`: the values that are computed before it, and that it or
/// something after it reads. An argument that a layer does not use is not read.
llvm::SmallVector<mlir::Value>
findSentValues(mlir::Operation *call, llvm::ArrayRef<mlir::Operation *> ending);

/// Emits an error unless `ranges` are all layers of `program`.
mlir::LogicalResult
verifyCoverage(llvm::ArrayRef<LayerRange> ranges, const CostProgram &program,
               llvm::function_ref<mlir::InFlightDiagnostic()> emitError);

} // namespace autopar

#endif // AUTOPAR_ANALYSIS_STAGEBORDERS_H
