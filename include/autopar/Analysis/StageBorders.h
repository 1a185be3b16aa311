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
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

namespace autopar::analysis {

/// The last loops of `function` that follow each other directly; none where it
/// has no loop. The layers that stages divide are the calls in them. Of a
/// backward or an update, the loops that call parts of those layers: loops of
/// an encoder come last in a backward.
llvm::SmallVector<mlir::LoopLikeOpInterface>
findStack(mlir::FunctionOpInterface function);

/// Whether each stage that reads `value` has it without being sent it: an input
/// of the model, or what an op without operands makes (a weight, a cache, a
/// state, a value that a forward has saved), laid out in any way.
bool isGiven(mlir::Value value);

/// The values that anything reads, on their way through calls and loops. An
/// argument that no op uses is not read; what a function returns is.
class ReadValues {
public:
  explicit ReadValues(mlir::Operation *module);

  bool isRead(mlir::Value value) const { return values.contains(value); }
  bool reads(mlir::OpOperand &use);

private:
  /// What takes the value of `use` elsewhere; nothing where its op reads it.
  llvm::SmallVector<mlir::Value, 2> receiversOf(mlir::OpOperand &use);

  mlir::SymbolTableCollection symbols;
  llvm::DenseSet<mlir::Value> values;
};

/// What the stages of a function are sent. Each block is looked through once,
/// however many layers it has.
class StageBorders {
public:
  explicit StageBorders(mlir::FunctionOpInterface entry)
      : read(entry->getParentOp()) {}

  /// What a stage is sent whose first layer is `call`, in the last iterations
  /// of the loops `ending`: the values that are computed before it, and that it
  /// or something after it reads.
  llvm::SmallVector<mlir::Value>
  findSent(mlir::Operation *call, llvm::ArrayRef<mlir::Operation *> ending);
  /// What a stage is sent that has no layer: `first` is the first op behind all
  /// of them.
  llvm::SmallVector<mlir::Value> findSentBehind(mlir::Operation *first);

private:
  using Values = llvm::SmallVector<mlir::Value, 0>;

  bool isSent(mlir::OpOperand &use);
  bool isHandedOn(mlir::OpOperand &use,
                  llvm::ArrayRef<mlir::Operation *> ending);
  /// What the ops behind `op` in its block read, and those inside of `op`.
  const Values &readBehind(mlir::Operation *op);
  const Values &readInside(mlir::Operation *op);
  void sweep(mlir::Block &block);

  ReadValues read;
  llvm::DenseMap<mlir::Operation *, Values> behind, inside;
};

/// Emits an error unless `ranges` are all layers of `program`.
mlir::LogicalResult
verifyCoverage(llvm::ArrayRef<schedule::LayerRange> ranges,
               const program::CostProgram &program,
               llvm::function_ref<mlir::InFlightDiagnostic()> emitError);

} // namespace autopar::analysis

#endif // AUTOPAR_ANALYSIS_STAGEBORDERS_H
