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

/// Inputs of a library's programs besides the module.
struct StrategyRules {
  cost::Launching launching;
  int64_t vocabularyMultiple = 1;
  /// Loads of experts for plans that place them; null if they are even.
  std::shared_ptr<placement::ExpertPlacer> loads = nullptr;
};

/// Makes programs by the passes of an estimate, on axes without sizes.
/// Strategies that begin with the same passes share their results. It must not
/// share its context while it makes a program.
class StrategyMaker {
public:
  /// Works on a clone of `module`, in its context.
  StrategyMaker(mlir::ModuleOp module, const StrategyRules &rules);
  /// Works on a module in bytecode, in a context of its own, which drops the
  /// diagnostics of passes.
  StrategyMaker(llvm::StringRef bytecode, const mlir::DialectRegistry &registry,
                const StrategyRules &rules);

  /// Null if a pass refuses `plan`, which has no neutral degrees or axes.
  std::unique_ptr<cost::CompiledProgram> make(const plan::Plan &plan);

  /// Whether the last plan had the axes of `plan`, so that most passes are
  /// known.
  bool knows(const plan::Plan &plan) const { return lastAxes == namesOf(plan); }

private:
  /// A module after some passes, and the results of further passes on clones of
  /// it, by their text; null if they refused. The module is gone once a program
  /// was made of it.
  struct Stem {
    mlir::OwningOpRef<mlir::ModuleOp> module;
    llvm::StringMap<std::unique_ptr<Stem>> after;
  };

  static std::string namesOf(const plan::Plan &plan);
  bool trains();
  mlir::OwningOpRef<mlir::ModuleOp> grow(PassList passes);

  /// Null if another context owns the module.
  std::unique_ptr<mlir::MLIRContext> context;
  StrategyRules rules;
  Stem root;
  PassSettings settings;
  std::string lastAxes;
};

} // namespace autopar::pipelines

#endif // AUTOPAR_LIB_PIPELINES_STRATEGYMAKER_H
