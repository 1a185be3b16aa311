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

/// The limits of a server. docs/security.md has the table.
struct ServerLimits {
  /// Connections at once; bytes of all bodies that are being read; size of
  /// small bodies, which are always allowed.
  size_t connections = 512;
  size_t bufferedBytes = size_t(64) << 20, smallBytes = size_t(64) << 10;
  /// Sizes of a request: its first line, its head, its number of headers, its
  /// body.
  size_t targetBytes = 4 << 10, headBytes = 16 << 10, headers = 64;
  size_t bodyBytes = size_t(4) << 20;
  /// Until the head is there, the body is, the answer is taken; between two
  /// requests of a connection.
  Duration headTime{5'000}, bodyTime{20'000}, answerTime{30'000},
      idleTime{30'000};
  /// Processes that compute, processes for long requests, and requests that
  /// wait for either. Long requests have processes of their own, with lower
  /// priority.
  size_t workers = 2, longWorkers = 1, waiting = 64, waitingLong = 4;
  /// Time of a request; time of a search or sweep; time that it may take to
  /// stop; the same if the client is gone.
  Duration quickTime{10'000}, longTime{60'000}, finishTime{5'000},
      graceTime{500};
  /// Address space of a worker; resident memory, and number of requests, after
  /// which it is replaced.
  uint64_t workerBytes = uint64_t(3) << 30, renewBytes = uint64_t(256) << 20;
  size_t renewRequests = 200;
  /// Size of an answer.
  size_t answerBytes = size_t(64) << 20;
  /// Plans of the space of a search; rows of a sweep; threads of a search.
  size_t sweepRows = 1'000;
  unsigned threads = 2;
};

} // namespace autopar::server

#endif // AUTOPAR_SERVER_SERVERLIMITS_H
