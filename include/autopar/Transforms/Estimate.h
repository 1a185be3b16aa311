//===- Estimate.h - From a module to its report -----------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_TRANSFORMS_ESTIMATE_H
#define AUTOPAR_TRANSFORMS_ESTIMATE_H

#include "autopar/Analysis/CostProgramAnalysis.h"
#include "autopar/Report/Evaluate.h"
#include "autopar/Runtime/Runtime.h"
#include "autopar/Support/Result.h"

#include "mlir/IR/BuiltinOps.h"

namespace mlir {
class Pass;
} // namespace mlir

namespace autopar {

/// A runtime with its overrides applied, and which of them it has used.
struct AppliedRuntime {
  Runtime runtime;
  std::vector<bool> usedOverrides;
};

/// What an estimate is made of besides the module: the options that all passes
/// have that report.
struct EstimateSettings {
  std::string hardware, runtime;
  int64_t nodes = 0;
  double memoryUtilization = 0;
  std::vector<std::string> overrides, given;
  ReportDetail detail = {};
  /// The runtime of these settings where somebody has read it already.
  std::shared_ptr<const AppliedRuntime> applied = nullptr;
};

/// What a step of `module` costs. A failure has been emitted.
mlir::FailureOr<Report> estimateModule(mlir::ModuleOp module,
                                       const CostProgramAnalysis &analysis,
                                       const EstimateSettings &settings);

struct EstimatePassOptions;
/// The pass with the runtime that its options name, which it does not read
/// again.
std::unique_ptr<mlir::Pass>
createEstimatePass(EstimatePassOptions options,
                   std::shared_ptr<const AppliedRuntime> applied);

/// The machine of `module`: its own, or `given`, or the default one.
std::string machineNameOf(mlir::ModuleOp module, llvm::StringRef given);

/// Emits an error of the left side, whose note keeps its own line.
mlir::LogicalResult emitError(mlir::ModuleOp module, const Error &error);
/// Refuses what is neither text nor json.
mlir::LogicalResult verifyReportFormat(mlir::ModuleOp module,
                                       llvm::StringRef format);
/// Writes a report to a file, or to standard output for "-".
mlir::LogicalResult writeReport(mlir::ModuleOp module, const std::string &path,
                                const std::string &text);

} // namespace autopar

#endif // AUTOPAR_TRANSFORMS_ESTIMATE_H
