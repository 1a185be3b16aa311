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

/// Adds the module's `parallel.expert_placement` to the cost program, function
/// by function.
class ExpertTables {
public:
  /// `loads` are those of experts whose op has none; null if they are even.
  explicit ExpertTables(std::shared_ptr<placement::ExpertPlacer> loads)
      : loads(std::move(loads)) {}

  /// Emits an error if the op does not match the module's layers.
  mlir::LogicalResult read(mlir::ModuleOp module, WorkloadBuilder &builder);
  /// Sets the kind of the layers of `function`. Returns the kind with their
  /// placed experts: for a backward, that of its forward.
  std::optional<uint32_t> setKind(mlir::FunctionOpInterface function,
                                  uint32_t kind);
  /// Sets the capacity of the experts; an error if some have copies, for which
  /// `op` would need loads.
  mlir::LogicalResult limit(mlir::Operation *op,
                            const placement::LoadLimit &limit);
  /// The tables; null if there are none.
  std::shared_ptr<const program::PlacedExperts> take() {
    return std::move(tables);
  }

private:
  void follow(llvm::ArrayRef<ExpertLayer> layers);

  std::shared_ptr<placement::ExpertPlacer> loads;
  std::shared_ptr<program::PlacedExperts> tables;
  /// The function of each layer.
  std::vector<mlir::Operation *> functions;
};

} // namespace autopar::analysis

#endif // AUTOPAR_LIB_ANALYSIS_EXPERTTABLES_H
