//===- Input.h - The model that a command line names ---------- -*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_TOOLS_TRANSLATE_INPUT_H
#define AUTOPAR_TOOLS_TRANSLATE_INPUT_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <string>

namespace autopar {

/// The module in the .mlir file `path`, or standard input where it is "-".
mlir::OwningOpRef<mlir::ModuleOp> parseModel(mlir::MLIRContext &context,
                                             const std::string &path);

} // namespace autopar

#endif // AUTOPAR_TOOLS_TRANSLATE_INPUT_H
