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

/// Compiled programs of one model by strategy key. What is asked for the first
/// time is made by the passes that an estimate runs, on axes without sizes;
/// strategies that begin with the same passes share their results. Threads may
/// ask at once: each makes what it asks for. A directory keeps what was made: a
/// file for each module, with its workload, way of a runtime to launch, and
/// version of this program.
class StrategyLibrary {
public:
  /// `module` has a workload, and is not split yet; it is copied. `directory`
  /// may be empty, for none; files in it that are broken are none, too. Experts
  /// of plans that say how they are placed have these loads, and as many copies
  /// as layouts say; null: even ones.
  StrategyLibrary(mlir::ModuleOp module, const runtime::Runtime &runtime,
                  std::string directory = {},
                  std::shared_ptr<placement::ExpertPlacer> loads = nullptr);
  ~StrategyLibrary();

  /// The program of the strategy of `plan`, whatever its sizes. Null where the
  /// passes refuse it: they have said why, unless another thread was making one
  /// at that time.
  cost::CompiledProgram *find(const plan::Plan &plan);
  /// Writes what the directory lacks. Errors: a file that cannot be written.
  Result<bool> save();

  /// How many of the programs that were found so far were made here, not read.
  size_t madeCount() const;

private:
  struct State;
  std::unique_ptr<State> state;
};

} // namespace autopar::pipelines

#endif // AUTOPAR_PIPELINES_STRATEGYLIBRARY_H
