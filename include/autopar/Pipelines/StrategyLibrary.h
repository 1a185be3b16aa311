//===- StrategyLibrary.h - Programs of a model by strategy ------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_PIPELINES_STRATEGYLIBRARY_H
#define AUTOPAR_PIPELINES_STRATEGYLIBRARY_H

#include "autopar/Cost/CompiledProgram.h"
#include "autopar/Plan/Plan.h"
#include "autopar/Runtime/Runtime.h"

#include "mlir/IR/BuiltinOps.h"

#include <memory>
#include <string>

namespace autopar::pipelines {

/// Compiled programs of one model by strategy key. A program is made at its
/// first use by the passes of an estimate, on axes without sizes; strategies
/// that begin with the same passes share their results. Thread-safe: each
/// thread makes the program that it needs. A directory caches programs: one
/// file per module, workload, launching rule of the runtime, and version of
/// this program.
class StrategyLibrary {
public:
  /// `module` has a workload and is not split yet; it is cloned. `directory`
  /// may be empty, for none; broken files in it are ignored. Placed experts
  /// have `loads`, and as many copies as layouts say; null: even loads.
  StrategyLibrary(mlir::ModuleOp module, const runtime::Runtime &runtime,
                  std::string directory = {},
                  std::shared_ptr<placement::ExpertPlacer> loads = nullptr);
  ~StrategyLibrary();

  /// The program of the strategy of `plan`, whatever its sizes. Null if a pass
  /// refuses it, after a diagnostic, unless another thread was making a program
  /// at that time.
  cost::CompiledProgram *find(const plan::Plan &plan);
  /// Writes new programs to the directory. Errors: a file that cannot be
  /// written.
  Result<bool> save();

  /// Number of programs that were made, not read.
  size_t madeCount() const;

private:
  struct State;
  std::unique_ptr<State> state;
};

} // namespace autopar::pipelines

#endif // AUTOPAR_PIPELINES_STRATEGYLIBRARY_H
