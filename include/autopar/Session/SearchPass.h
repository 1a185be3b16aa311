//===- SearchPass.h - A pass that finds the plan ----------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_SESSION_SEARCHPASS_H
#define AUTOPAR_SESSION_SEARCHPASS_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace autopar::session {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "autopar/Session/Passes.h.inc"

} // namespace autopar::session

#endif // AUTOPAR_SESSION_SEARCHPASS_H
