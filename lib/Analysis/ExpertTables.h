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

/// What the module's `parallel.expert_placement` says, put into the cost
/// program function by function.
class ExpertTables {
public:
  /// `loads`: of experts of which the op says none; null where they are even.
  explicit ExpertTables(std::shared_ptr<placement::ExpertPlacer> loads)
      : loads(std::move(loads)) {}

  /// Emits an error where the op is not about the module's layers.
  mlir::LogicalResult read(mlir::ModuleOp module, WorkloadBuilder &builder);
  /// Says that the layers of `function` are of this kind. The kind of those
  /// whose placed experts it has: of a backward, its forward's.
  std::optional<uint32_t> setKind(mlir::FunctionOpInterface function,
                                  uint32_t kind);
  /// Says what the experts take of their loads; an error where some have
  /// copies, which `op` would have to say the loads of.
  mlir::LogicalResult limit(mlir::Operation *op,
                            const placement::LoadLimit &limit);
  /// The tables; null where there are none.
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
