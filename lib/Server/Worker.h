//===- Worker.h - A process that computes answers ---------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_SERVER_WORKER_H
#define AUTOPAR_LIB_SERVER_WORKER_H

#include "autopar/Server/ServerLimits.h"

#include <csignal>

namespace autopar::server {

/// The signal that makes a worker stop its computation.
inline constexpr int stopSignal = SIGUSR1;
/// The exit code of a worker that exceeds its memory.
inline constexpr int outOfMemoryCode = 86;

/// Answers requests that come over `descriptor` until it is closed, or until
/// this worker should be replaced. Then it ends the process.
[[noreturn]] void runWorker(int descriptor, const ServerLimits &limits);

} // namespace autopar::server

#endif // AUTOPAR_LIB_SERVER_WORKER_H
