//===- Weights.h - Commands about checkpoints ----------------- -*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_TOOLS_TRANSLATE_WEIGHTS_H
#define AUTOPAR_TOOLS_TRANSLATE_WEIGHTS_H

#include "autopar/Checkpoint/Verify.h"

#include "mlir/IR/BuiltinOps.h"

namespace autopar {

/// Compares the tensors of `module` with the checkpoint at `path`. An error of
/// the module itself has been printed, and is an empty one here.
Result<Verification> verifyModule(mlir::ModuleOp module,
                                  const std::string &path, bool strict);

} // namespace autopar

#endif // AUTOPAR_TOOLS_TRANSLATE_WEIGHTS_H
