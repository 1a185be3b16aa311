//===- ServerLimits.h - Limits for strangers --------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_SERVER_SERVERLIMITS_H
#define AUTOPAR_SERVER_SERVERLIMITS_H

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace autopar::server {

using Duration = std::chrono::milliseconds;

/// The limits of a server. docs/security.md lists them in a table.
struct ServerLimits {
  /// `connections`: largest number of open connections. `bufferedBytes`:
  /// largest sum of all bodies that are being read. `smallBytes`: size up to
  /// which a body is always accepted.
  size_t connections = 512;
  size_t bufferedBytes = size_t(64) << 20, smallBytes = size_t(64) << 10;
  /// Largest sizes of a request: its first line, its head, its number of
  /// headers, its body.
  size_t targetBytes = 4 << 10, headBytes = 16 << 10, headers = 64;
  size_t bodyBytes = size_t(4) << 20;
  /// Longest times until the head of a request is complete, until its body is,
  /// until the client has taken the answer, and between two requests of a
  /// connection.
  Duration headTime{5'000}, bodyTime{20'000}, answerTime{30'000},
      idleTime{30'000};
  /// Number of worker processes, number of worker processes for long requests,
  /// and numbers of requests that may wait for each. Long requests have
  /// processes of their own, with lower priority.
  size_t workers = 2, longWorkers = 1, waiting = 64, waitingLong = 4;
  /// Longest times of a request; of a search or a sweep; for stopping a
  /// computation; and for stopping it when the client is gone.
  Duration quickTime{10'000}, longTime{60'000}, finishTime{5'000},
      graceTime{500};
  /// Address space of a worker process; and the resident memory and the number
  /// of requests after which it is replaced.
  uint64_t workerBytes = uint64_t(3) << 30, renewBytes = uint64_t(256) << 20;
  size_t renewRequests = 200;
  /// The largest size of an answer, in bytes.
  size_t answerBytes = size_t(64) << 20;
  /// Largest number of rows of a sweep, and number of threads of a search.
  size_t sweepRows = 1'000;
  unsigned threads = 2;
};

} // namespace autopar::server

#endif // AUTOPAR_SERVER_SERVERLIMITS_H
