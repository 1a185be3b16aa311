//===- StrategyMaker.h - Programs of one module by passes -------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_PIPELINES_STRATEGYMAKER_H
#define AUTOPAR_LIB_PIPELINES_STRATEGYMAKER_H

#include "PassList.h"
#include "autopar/Cost/CompiledProgram.h"
#include "autopar/Plan/Plan.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/StringMap.h"

#include <memory>
#include <string>

namespace autopar::pipelines {

/// The inputs of a library's programs besides the module.
struct StrategyRules {
  cost::Launching launching;
  int64_t vocabularyMultiple = 1;
  /// The loads of experts, for plans that place experts; null if the loads are
  /// even.
  std::shared_ptr<placement::ExpertPlacer> loads = nullptr;
};

/// Makes programs by the passes of an estimate, on axes without sizes.
/// Strategies that begin with the same passes share the results of these
/// passes. While a maker makes a program, nothing else may use its context.
class StrategyMaker {
public:
  /// Makes programs from a clone of `module`, in the module's context.
  StrategyMaker(mlir::ModuleOp module, const StrategyRules &rules);
  /// Makes programs from a module in bytecode, in a context of its own, which
  /// drops the diagnostics of passes.
  StrategyMaker(llvm::StringRef bytecode, const mlir::DialectRegistry &registry,
                const StrategyRules &rules);

  /// Makes the program of `plan`, which must have no neutral degrees or axes.
  /// Returns null if a pass refuses the plan.
  std::unique_ptr<cost::CompiledProgram> make(const plan::Plan &plan);

  /// Returns whether the last plan had the axes of `plan`, so that the results
  /// of most passes are known.
  bool knows(const plan::Plan &plan) const { return lastAxes == namesOf(plan); }

private:
  /// A module after some passes, and the results of further passes on clones of
  /// it. `after` has them by the text of the pass; null if the pass refused.
  /// The module is gone once a program was made from it.
  struct Stem {
    mlir::OwningOpRef<mlir::ModuleOp> module;
    llvm::StringMap<std::unique_ptr<Stem>> after;
  };

  static std::string namesOf(const plan::Plan &plan);
  bool trains();
  mlir::OwningOpRef<mlir::ModuleOp> grow(PassList passes);

  /// The maker's own context; null if the context of the module belongs to
  /// another owner.
  std::unique_ptr<mlir::MLIRContext> context;
  StrategyRules rules;
  Stem root;
  PassSettings settings;
  std::string lastAxes;
};

} // namespace autopar::pipelines

#endif // AUTOPAR_LIB_PIPELINES_STRATEGYMAKER_H
