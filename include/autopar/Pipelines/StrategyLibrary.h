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

/// The compiled programs of one model, by strategy key. A program is made when
/// it is first needed, by the passes of an estimate on a mesh without sizes;
/// strategies that begin with the same passes share their results. Thread-safe:
/// each thread makes the program that it needs. A directory caches programs:
/// one file per module, workload, launching rule of the runtime, and version of
/// autopar.
class StrategyLibrary {
public:
  /// `module` must have a workload and must not be split; it is cloned.
  /// `directory` is the cache, "" for none; broken files in it are ignored.
  /// `loads` gives the loads of placed experts, which have as many copies as
  /// layouts say; null for even loads.
  StrategyLibrary(mlir::ModuleOp module, const runtime::Runtime &runtime,
                  std::string directory = {},
                  std::shared_ptr<placement::ExpertPlacer> loads = nullptr);
  ~StrategyLibrary();

  /// Returns the program of the strategy of `plan`, whatever sizes the plan
  /// has. Null if a pass refuses the strategy, after a diagnostic, unless
  /// another thread was making a program at that time.
  cost::CompiledProgram *find(const plan::Plan &plan);
  /// Writes new programs to the cache directory. Error: a file cannot be
  /// written.
  Result<bool> save();

  /// Returns how many programs were made instead of read from the cache.
  size_t madeCount() const;

private:
  struct State;
  std::unique_ptr<State> state;
};

} // namespace autopar::pipelines

#endif // AUTOPAR_PIPELINES_STRATEGYLIBRARY_H
