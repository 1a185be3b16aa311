//===- Passes.h - The passes of autopar -------------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_TRANSFORMS_PASSES_H
#define AUTOPAR_TRANSFORMS_PASSES_H

#include "autopar/Dialect/Parallel/Parallel.h"
#include "autopar/Dialect/Transformer/Transformer.h"
#include "autopar/Program/RequestKnobs.h"
#include "autopar/Transforms/ModulePass.h"
#include "autopar/Transforms/Price/ReportPass.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace autopar::reshard {
class KnownReshards;
} // namespace autopar::reshard

namespace autopar::transforms {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "autopar/Transforms/Passes.h.inc"

/// Makes the pass with a cache of reshard plans that it shares with other
/// passes.
std::unique_ptr<mlir::Pass>
createInsertCollectivesPass(std::shared_ptr<reshard::KnownReshards> known);

/// Makes the pass with the numbers that the user set for `requestKnobs`.
std::unique_ptr<mlir::Pass>
createBindRequestsPass(BindRequestsPassOptions options,
                       llvm::ArrayRef<program::RequestNumbers> numbers);

} // namespace autopar::transforms

#endif // AUTOPAR_TRANSFORMS_PASSES_H
