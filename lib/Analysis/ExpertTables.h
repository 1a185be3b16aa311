//===- ExpertTables.h - The placement of a module's experts -----*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_ANALYSIS_EXPERTTABLES_H
#define AUTOPAR_LIB_ANALYSIS_EXPERTTABLES_H

#include "autopar/Analysis/ExpertLayers.h"
#include "autopar/Interfaces/WorkloadBuilder.h"

#include "mlir/IR/BuiltinOps.h"

namespace autopar::analysis {

/// Adds the expert placement of the module (`parallel.expert_placement`) to the
/// cost program, function by function.
class ExpertTables {
public:
  /// `loads` gives the loads of experts if the op states none; null if they are
  /// even.
  explicit ExpertTables(std::shared_ptr<placement::ExpertPlacer> loads)
      : loads(std::move(loads)) {}

  /// Reads the op; emits an error if it does not match the module's layers.
  mlir::LogicalResult read(mlir::ModuleOp module, WorkloadBuilder &builder);
  /// Records that the layers with `function` have the layer kind `kind`.
  /// Returns the kind whose placed experts they have: for a backward, that of
  /// its forward.
  std::optional<uint32_t> setKind(mlir::FunctionOpInterface function,
                                  uint32_t kind);
  /// Sets the capacity of the experts. Emits an error if some experts have
  /// copies, for which `op` would have to state loads.
  mlir::LogicalResult limit(mlir::Operation *op,
                            const placement::LoadLimit &limit);
  /// Returns the placement; null if there is none.
  std::shared_ptr<const program::PlacedExperts> take() {
    return std::move(tables);
  }

private:
  void follow(llvm::ArrayRef<ExpertLayer> layers);

  std::shared_ptr<placement::ExpertPlacer> loads;
  std::shared_ptr<program::PlacedExperts> tables;
  /// The function of each layer with placed experts.
  std::vector<mlir::Operation *> functions;
};

} // namespace autopar::analysis

#endif // AUTOPAR_LIB_ANALYSIS_EXPERTTABLES_H
