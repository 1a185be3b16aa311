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
#include "autopar/Interfaces/WorkloadBuilder.h"

#include "mlir/Interfaces/LoopLikeInterface.h"

namespace autopar {

/// The last loops of `entry` that follow each other directly; none where it has
/// no loop.
llvm::SmallVector<mlir::LoopLikeOpInterface>
findStack(mlir::FunctionOpInterface entry);

/// Fills `CostProgram::stack` once all functions are extracted.
class StackReader {
public:
  /// `layers`: the layer kind of each function that a step runs; `launches`:
  /// what one run of it launches.
  StackReader(WorkloadBuilder &builder,
              const llvm::DenseMap<mlir::Operation *, uint32_t> &layers,
              const llvm::DenseMap<mlir::Operation *, Launches> &launches,
              LayerStack &stack)
      : builder(builder), layers(layers), launches(launches), stack(stack) {}

  /// `loops` are those of `findStack`, `after` is the layer kind of what
  /// follows them. Fails with a diagnostic where `CallCounts` does.
  mlir::LogicalResult read(mlir::FunctionOpInterface entry,
                           llvm::ArrayRef<mlir::LoopLikeOpInterface> loops,
                           uint32_t after);

private:
  using Kinds = std::vector<KindCount>;

  mlir::LogicalResult addOutside(mlir::Operation *op, Kinds &kinds);
  mlir::LogicalResult addCall(mlir::CallOpInterface call, int64_t times,
                              Kinds &kinds);
  mlir::LogicalResult addRun(mlir::LoopLikeOpInterface loop);
  mlir::LogicalResult addLayers(mlir::LoopLikeOpInterface loop, int64_t times,
                                LayerStack::Run &run);
  std::vector<LayerStack::Layer::Input> inputsOf(mlir::Operation *call);
  bool crosses(mlir::Value value) const;
  void addInput(mlir::Value value,
                std::vector<LayerStack::Layer::Input> &inputs);

  WorkloadBuilder &builder;
  const llvm::DenseMap<mlir::Operation *, uint32_t> &layers;
  const llvm::DenseMap<mlir::Operation *, Launches> &launches;
  LayerStack &stack;
  /// Whether the loops hold anything but calls, or loop without a known end.
  bool irregular = false;
};

} // namespace autopar

#endif // AUTOPAR_LIB_ANALYSIS_STACKREADER_H
