//===- StackReader.h - The layers that follow one another -------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_ANALYSIS_STACKREADER_H
#define AUTOPAR_LIB_ANALYSIS_STACKREADER_H

#include "Borders.h"
#include "CallCounts.h"
#include "autopar/Analysis/StageBorders.h"
#include "autopar/Interfaces/WorkloadBuilder.h"

#include "mlir/Interfaces/LoopLikeInterface.h"

namespace autopar::analysis {

/// Fills `CostProgram::stack`, after all functions were extracted.
class StackReader {
public:
  /// `layers` has the layer kind of each function that a step runs, and
  /// `launches` what one run of it launches.
  StackReader(WorkloadBuilder &builder,
              const llvm::DenseMap<mlir::Operation *, uint32_t> &layers,
              const llvm::DenseMap<mlir::Operation *, Launches> &launches,
              mlir::FunctionOpInterface entry, program::LayerStack &stack)
      : builder(builder), layers(layers), launches(launches), entry(entry),
        borders(entry), stack(stack) {}

  /// Reads the stack. `loops` are those of `findStack`, `after` is the layer
  /// kind of the ops after them. Fails with a diagnostic if `CallCounts` does.
  mlir::LogicalResult read(llvm::ArrayRef<mlir::LoopLikeOpInterface> loops,
                           uint32_t after);

private:
  using Kinds = std::vector<program::KindCount>;

  mlir::LogicalResult addOutside(mlir::Operation *op, Kinds &kinds);
  mlir::LogicalResult addCall(mlir::CallOpInterface call, int64_t times,
                              Kinds &kinds);
  /// Returns the layer kinds that one run of `callee` runs; null if
  /// `CallCounts` fails.
  const Kinds *kindsIn(mlir::FunctionOpInterface callee);
  mlir::FunctionOpInterface calleeOf(mlir::CallOpInterface call) {
    return mlir::cast<mlir::FunctionOpInterface>(
        call.resolveCallableInTable(&symbols));
  }
  mlir::LogicalResult addRun(mlir::LoopLikeOpInterface loop);
  /// A layer that a loop calls `times` times in a row, and the values that a
  /// pipeline stage receives if it begins with this layer.
  struct LayerCall {
    mlir::CallOpInterface call;
    int64_t times = 1;
    llvm::SmallVector<mlir::Value> sent;
  };
  using Iteration = std::vector<LayerCall>;
  static bool areSame(const Iteration &a, const Iteration &b);
  Iteration iterationOf(mlir::LoopLikeOpInterface loop,
                        llvm::SmallVector<mlir::Operation *> ending);
  void addRepeated(mlir::LoopLikeOpInterface loop,
                   llvm::ArrayRef<mlir::Operation *> ending, Iteration &layers);
  mlir::LogicalResult addIterations(const Iteration &layers, int64_t count);
  void addInput(mlir::Value value,
                std::vector<program::LayerStack::Layer::Input> &inputs);

  WorkloadBuilder &builder;
  const llvm::DenseMap<mlir::Operation *, uint32_t> &layers;
  const llvm::DenseMap<mlir::Operation *, Launches> &launches;
  mlir::FunctionOpInterface entry;
  StageBorders borders;
  program::LayerStack &stack;
  llvm::DenseMap<mlir::Operation *, Kinds> kindsOf;
  mlir::SymbolTableCollection symbols;
  /// Whether the loops contain anything but calls, or have no known end.
  bool irregular = false;
};

} // namespace autopar::analysis

#endif // AUTOPAR_LIB_ANALYSIS_STACKREADER_H
