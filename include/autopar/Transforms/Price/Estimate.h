//===- Estimate.h - From a module to its report -----------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_TRANSFORMS_PRICE_ESTIMATE_H
#define AUTOPAR_TRANSFORMS_PRICE_ESTIMATE_H

#include "autopar/Analysis/CostProgramAnalysis.h"
#include "autopar/Estimate/Estimate.h"
#include "autopar/Report/Deployment.h"
#include "autopar/Report/PlanDifferences.h"
#include "autopar/Support/Result.h"
#include "autopar/Transforms/Bind/Target.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/AnalysisManager.h"

#include <variant>

namespace autopar::transforms {

/// The report of a module, or of a deployment of several modules.
using AnyReport = std::variant<report::Report, report::DeploymentReport>;

/// Estimates `module`, or each module inside it, on its target. Errors are
/// emitted.
mlir::FailureOr<AnyReport> estimate(mlir::ModuleOp module,
                                    mlir::AnalysisManager analyses,
                                    const estimation::ReportDetail &detail);

/// Estimates a step of `module`, which must not be a deployment, on its target.
/// Errors are emitted.
mlir::FailureOr<report::Report> estimateModule(
    mlir::ModuleOp module, const analysis::CostProgramAnalysis &analysis,
    const TargetAnalysis &target, const estimation::ReportDetail &detail = {});

/// Describes and estimates a plan of a model, for one side of a comparison.
/// Errors are emitted.
mlir::FailureOr<report::PlanOutcome>
priceOutcome(mlir::ModuleOp module, const TargetAnalysis &target,
             const estimation::ReportDetail &detail = {});

/// Emits an error of a library without MLIR as a diagnostic; its note becomes a
/// line of its own.
mlir::LogicalResult emitError(mlir::ModuleOp module, const Error &error);

} // namespace autopar::transforms

#endif // AUTOPAR_TRANSFORMS_PRICE_ESTIMATE_H
