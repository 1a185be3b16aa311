//===- Checkpoints.h - Models beside their checkpoints ----------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_SESSION_CHECKPOINTS_H
#define AUTOPAR_SESSION_CHECKPOINTS_H

#include "autopar/Checkpoint/Verify.h"
#include "autopar/Import/DraftModel.h"

#include "mlir/IR/BuiltinOps.h"

namespace autopar::session {

/// Compares the tensors of the model in `module` with those of the checkpoint
/// at `path`. An error without a message has been emitted as a diagnostic.
Result<checkpoint::Verification>
verifyModule(mlir::ModuleOp module, const std::string &path, bool strict);

/// Drafts a family for the model type `type`, which must be unknown to autopar,
/// from the config and the checkpoint at these paths.
Result<importer::ModelDraft> draftNewFamily(const std::string &type,
                                            const std::string &config,
                                            const std::string &weights);

} // namespace autopar::session

#endif // AUTOPAR_SESSION_CHECKPOINTS_H
