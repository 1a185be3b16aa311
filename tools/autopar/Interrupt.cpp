//===- Interrupt.cpp ------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Interrupt.h"

#include <csignal>

static volatile std::sig_atomic_t interrupted = 0;

extern "C" void noteInterrupt(int signal) {
  interrupted = 1;
  std::signal(signal, SIG_DFL);
}

void autopar::noteInterrupts() { std::signal(SIGINT, noteInterrupt); }

bool autopar::wasInterrupted() { return interrupted != 0; }
