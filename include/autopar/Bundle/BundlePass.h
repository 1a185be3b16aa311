//===- BundlePass.h - A pass that writes a bundle ------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_BUNDLE_BUNDLEPASS_H
#define AUTOPAR_BUNDLE_BUNDLEPASS_H

#include "autopar/Pipelines/Pipelines.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace autopar::bundle {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "autopar/Bundle/Passes.h.inc"

/// Adds a pass to `pm`, after the estimate that `options` ask for, which writes
/// the bundle of that estimate to the file `output`. Wrong options are passed
/// to `onError`.
mlir::LogicalResult addBundle(mlir::OpPassManager &pm,
                              const pipelines::PlanOptions &options,
                              const std::string &output,
                              std::vector<std::string> flags,
                              pipelines::PipelineErrorHandler onError);

} // namespace autopar::bundle

#endif // AUTOPAR_BUNDLE_BUNDLEPASS_H
