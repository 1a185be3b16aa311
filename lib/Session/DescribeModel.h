//===- DescribeModel.h - From the IR of a model to its facts ----*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_SESSION_DESCRIBEMODEL_H
#define AUTOPAR_LIB_SESSION_DESCRIBEMODEL_H

#include "autopar/Report/ModelReport.h"
#include "autopar/Support/Result.h"

#include "mlir/IR/BuiltinOps.h"

namespace autopar::session {

/// Describes the facts that the logical IR of a model gives, with KV caches in
/// each of `kvFormats` (at least one). If the error has no message, diagnostics
/// were printed.
Result<report::ModelReport>
describeModel(mlir::ModuleOp module, const std::vector<std::string> &kvFormats);

} // namespace autopar::session

#endif // AUTOPAR_LIB_SESSION_DESCRIBEMODEL_H
