//===- StageBorders.h - Values between pipeline stages ----------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `parallel.stages` says which layers a stage runs. The values that it receives
// follow from their uses; they are found here, for costs and for execution.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_ANALYSIS_STAGEBORDERS_H
#define AUTOPAR_ANALYSIS_STAGEBORDERS_H

#include "autopar/Program/CostProgram.h"
#include "autopar/Schedule/Staging.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

namespace autopar::analysis {

/// Returns the loops of `function` that run the layers: its last loops that
/// directly follow each other; none if it has no loop. The calls in these loops
/// are the layers that pipeline stages divide. In a backward or an update,
/// returns the loops that call parts of those layers, because the loops of an
/// encoder come last in a backward.
llvm::SmallVector<mlir::LoopLikeOpInterface>
findStack(mlir::FunctionOpInterface function);

/// Whether each stage that reads `value` has it without receiving it: an input
/// of the model, or the result of an op without operands (a weight, a cache, a
/// state, a value that a forward saved), in any layout.
bool isGiven(mlir::Value value);

/// The set of SSA values of a module that some op reads, traced through calls
/// and loops. A function argument that no op uses is not in the set; the
/// results of a function are.
class ReadValues {
public:
  explicit ReadValues(mlir::Operation *module);

  bool isRead(mlir::Value value) const { return values.contains(value); }
  bool reads(mlir::OpOperand &use);

private:
  /// Returns the values that receive the value of `use` from its op, a call or
  /// a loop; none if the op itself reads the value.
  llvm::SmallVector<mlir::Value, 2> receiversOf(mlir::OpOperand &use);

  mlir::SymbolTableCollection symbols;
  llvm::DenseSet<mlir::Value> values;
};

/// Finds the SSA values that a pipeline stage of a function receives from
/// earlier stages. Each block is scanned once, however many layers it has.
class StageBorders {
public:
  explicit StageBorders(mlir::FunctionOpInterface entry)
      : read(entry->getParentOp()) {}

  /// Returns the values that a stage receives whose first layer is `call`, in
  /// the last iterations of the loops `ending`: values computed before `call`
  /// that `call` or a later op reads.
  llvm::SmallVector<mlir::Value>
  findSent(mlir::Operation *call, llvm::ArrayRef<mlir::Operation *> ending);
  /// Returns the values that a stage without layers receives; `first` is the
  /// first op after all layers.
  llvm::SmallVector<mlir::Value> findSentBehind(mlir::Operation *first);

private:
  using Values = llvm::SmallVector<mlir::Value, 0>;

  bool isSent(mlir::OpOperand &use);
  bool isHandedOn(mlir::OpOperand &use,
                  llvm::ArrayRef<mlir::Operation *> ending);
  /// `readBehind` returns the values that the ops after `op` in its block read;
  /// `readInside` returns the values that ops nested in `op` read.
  const Values &readBehind(mlir::Operation *op);
  const Values &readInside(mlir::Operation *op);
  void sweep(mlir::Block &block);

  ReadValues read;
  llvm::DenseMap<mlir::Operation *, Values> behind, inside;
};

/// Emits an error unless `ranges` cover all layers of `program` and leave those
/// that have a cache in common on one stage.
mlir::LogicalResult
verifyCoverage(llvm::ArrayRef<schedule::LayerRange> ranges,
               const program::CostProgram &program,
               llvm::function_ref<mlir::InFlightDiagnostic()> emitError);

} // namespace autopar::analysis

#endif // AUTOPAR_ANALYSIS_STAGEBORDERS_H
