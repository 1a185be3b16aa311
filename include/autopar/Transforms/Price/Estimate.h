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

/// Of a module, or of a deployment of several.
using AnyReport = std::variant<report::Report, report::DeploymentReport>;

/// What `module`, or each of those inside it, costs on its target. Errors are
/// emitted.
mlir::FailureOr<AnyReport> estimate(mlir::ModuleOp module,
                                    mlir::AnalysisManager analyses,
                                    const estimation::ReportDetail &detail);

/// What a step of one `module` costs on its target. Errors are emitted.
mlir::FailureOr<report::Report> estimateModule(
    mlir::ModuleOp module, const analysis::CostProgramAnalysis &analysis,
    const TargetAnalysis &target, const estimation::ReportDetail &detail = {});

/// What a plan made of a model, and what that costs: one side of a comparison.
/// Errors are emitted.
mlir::FailureOr<report::PlanOutcome>
priceOutcome(mlir::ModuleOp module, const TargetAnalysis &target,
             const estimation::ReportDetail &detail = {});

/// Emits an error of the left side, whose note keeps its own line.
mlir::LogicalResult emitError(mlir::ModuleOp module, const Error &error);

} // namespace autopar::transforms

#endif // AUTOPAR_TRANSFORMS_PRICE_ESTIMATE_H
