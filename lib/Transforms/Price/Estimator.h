//===- Estimator.h - Modules on machines ------------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_TRANSFORMS_PRICE_ESTIMATOR_H
#define AUTOPAR_LIB_TRANSFORMS_PRICE_ESTIMATOR_H

#include "autopar/Transforms/Price/Estimate.h"

#include "autopar/Analysis/CostProgramAnalysis.h"

namespace autopar::transforms {

/// Inputs of a module's estimate.
struct EstimateInputs {
  plan::Plan plan;
  hardware::Machine machine;
  /// Adapted to that machine.
  runtime::Runtime runtime;
  program::Question question;
};

/// A module's estimate, with its inputs.
struct ModuleEstimate : EstimateInputs, estimation::Estimate {};

/// Collects the inputs for `module` on `target`. Errors are emitted.
mlir::FailureOr<EstimateInputs> inputsOf(mlir::ModuleOp module,
                                         const TargetAnalysis &target);
/// Estimates `module`. Errors are emitted, and so are remarks with advice.
mlir::FailureOr<ModuleEstimate> priceModule(
    mlir::ModuleOp module, const analysis::CostProgramAnalysis &analysis,
    const TargetAnalysis &target, const estimation::ReportDetail &detail);

/// Emits the error that there is nothing to simulate.
mlir::LogicalResult emitNoRequests(mlir::ModuleOp module);

} // namespace autopar::transforms

#endif // AUTOPAR_LIB_TRANSFORMS_PRICE_ESTIMATOR_H
