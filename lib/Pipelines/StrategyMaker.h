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

/// How the programs of a library are made, besides the module.
struct StrategyRules {
  cost::Launching launching;
  int64_t vocabularyMultiple = 1;
  /// Of experts, for plans that say where they lie; null where they are even.
  std::shared_ptr<placement::ExpertPlacer> loads = nullptr;
};

/// Makes programs by the passes that an estimate runs, on axes without sizes.
/// Strategies that begin with the same passes share their results. Has a
/// context to itself while it makes one.
class StrategyMaker {
public:
  /// Of a copy of `module`, in its context.
  StrategyMaker(mlir::ModuleOp module, const StrategyRules &rules);
  /// Of a module in bytecode, in a context of its own: what passes say against
  /// a plan goes nowhere.
  StrategyMaker(llvm::StringRef bytecode, const mlir::DialectRegistry &registry,
                const StrategyRules &rules);

  /// Null where a pass refuses `plan`, which has no neutral degrees or axes.
  std::unique_ptr<cost::CompiledProgram> make(const plan::Plan &plan);

  /// Whether the last plan had the axes of `plan`: most passes are known.
  bool knows(const plan::Plan &plan) const { return lastAxes == namesOf(plan); }

private:
  /// A module after some passes, and what further passes made of copies of it,
  /// by their text: null where they refused. The module is gone where a program
  /// was made of it.
  struct Stem {
    mlir::OwningOpRef<mlir::ModuleOp> module;
    llvm::StringMap<std::unique_ptr<Stem>> after;
  };

  static std::string namesOf(const plan::Plan &plan);
  bool trains();
  mlir::OwningOpRef<mlir::ModuleOp> grow(PassList passes);

  /// Null where the module is of another's.
  std::unique_ptr<mlir::MLIRContext> context;
  StrategyRules rules;
  Stem root;
  PassSettings settings;
  std::string lastAxes;
};

} // namespace autopar::pipelines

#endif // AUTOPAR_LIB_PIPELINES_STRATEGYMAKER_H
