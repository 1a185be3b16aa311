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

/// The inputs from which a module is estimated.
struct EstimateInputs {
  plan::Plan plan;
  hardware::Machine machine;
  /// The runtime, with the variants for that machine applied.
  runtime::Runtime runtime;
  program::Question question;
};

/// The estimate of a module, with its inputs.
struct ModuleEstimate : EstimateInputs, estimation::Estimate {};

/// Returns the inputs for estimating `module` on `target`. Errors are emitted.
mlir::FailureOr<EstimateInputs> inputsOf(mlir::ModuleOp module,
                                         const TargetAnalysis &target);
/// Estimates `module`, and emits advice as remarks. Errors are emitted.
mlir::FailureOr<ModuleEstimate> priceModule(
    mlir::ModuleOp module, const analysis::CostProgramAnalysis &analysis,
    const TargetAnalysis &target, const estimation::ReportDetail &detail);

/// Emits the error that there are no requests to simulate.
mlir::LogicalResult emitNoRequests(mlir::ModuleOp module);

} // namespace autopar::transforms

#endif // AUTOPAR_LIB_TRANSFORMS_PRICE_ESTIMATOR_H
