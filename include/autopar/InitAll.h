//===- InitAll.h - All dialects and passes of autopar -----------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_INITALL_H
#define AUTOPAR_INITALL_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace autopar {

void registerAllDialects(mlir::DialectRegistry &registry);
void registerAllPasses();

} // namespace autopar

#endif // AUTOPAR_INITALL_H
