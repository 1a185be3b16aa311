//===- Estimator.h - Modules on machines ------------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_TRANSFORMS_ESTIMATOR_H
#define AUTOPAR_LIB_TRANSFORMS_ESTIMATOR_H

#include "autopar/Transforms/Estimate.h"

#include "autopar/Analysis/CostProgramAnalysis.h"
#include "autopar/Dialect/Parallel/Parallel.h"
#include "autopar/Report/DeploymentLink.h"
#include "autopar/Report/Evaluate.h"

namespace autopar {

/// What a module is priced with.
struct EstimateInputs {
  Plan plan;
  Machine machine;
  /// As it is on that machine.
  Runtime runtime;
  Workload workload;
  /// Whether the module names its machine.
  bool ownMachine = false;
};

/// A module, priced.
struct ModuleEstimate : EstimateInputs {
  Report report;
};

/// Evaluates modules; emits errors where it cannot.
class Estimator : EstimateSettings {
public:
  /// Errors that are about no module inside are emitted on `module`.
  Estimator(mlir::ModuleOp module, const EstimateSettings &settings)
      : EstimateSettings(settings), module(module) {}

  /// Reads what all modules share.
  mlir::LogicalResult prepare();

  /// What `module` is priced with, whose program is `program`.
  mlir::FailureOr<EstimateInputs> inputsOf(mlir::ModuleOp module,
                                           const CostProgram &program);
  mlir::FailureOr<ModuleEstimate> run(mlir::ModuleOp module,
                                      const CostProgramAnalysis &analysis);
  /// Prices a link between the two sides.
  mlir::FailureOr<LinkReport> run(parallel::LinkOp link, LinkSide from,
                                  LinkSide to);

  /// Refuses overrides that nothing has used.
  mlir::LogicalResult verifyOverrides();

private:
  mlir::LogicalResult verifySettings();
  mlir::FailureOr<Machine> readMachine(mlir::ModuleOp module,
                                       int64_t spareNodes);
  void addAssumptions(mlir::ModuleOp module, ModuleEstimate &estimate);
  void addOpenWorkload(const Workload &workload, std::vector<Assumption> &open);
  void addOpenPipeline(const PipelinePlan &pipeline,
                       std::vector<Assumption> &open);

  mlir::ModuleOp module;
  std::vector<Override> parsed;
  std::vector<bool> usedByRuntime;
  HardwareLibrary library;
  Runtime software;
};

} // namespace autopar

#endif // AUTOPAR_LIB_TRANSFORMS_ESTIMATOR_H
