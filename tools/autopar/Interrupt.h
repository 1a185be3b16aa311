//===- Interrupt.h - Ending early, with what there is -----------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_TOOLS_AUTOPAR_INTERRUPT_H
#define AUTOPAR_TOOLS_AUTOPAR_INTERRUPT_H

namespace autopar {

/// The exit code of a command that was interrupted.
inline constexpr int interruptedCode = 130;

/// From now on the first interrupt is only noted; the second one ends the
/// process.
void noteInterrupts();
bool wasInterrupted();

} // namespace autopar

#endif // AUTOPAR_TOOLS_AUTOPAR_INTERRUPT_H
