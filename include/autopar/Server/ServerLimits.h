//===- ServerLimits.h - What strangers may ask of a server ------*- C++ -*-===//
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

/// What a server allows. docs/security.md has the table.
struct ServerLimits {
  /// Connections at once, and bytes of all bodies that are being read; those of
  /// few bytes always may.
  size_t connections = 512;
  size_t bufferedBytes = size_t(64) << 20, smallBytes = size_t(64) << 10;
  /// Of a request: its first line, its head, headers, its body.
  size_t targetBytes = 4 << 10, headBytes = 16 << 10, headers = 64;
  size_t bodyBytes = size_t(4) << 20;
  /// Until the head is there, the body is, the answer is taken; between two
  /// requests of a connection.
  Duration headTime{5'000}, bodyTime{20'000}, answerTime{30'000},
      idleTime{30'000};
  /// Processes that compute; requests that wait for one. Those that take long
  /// have processes of their own, which leave others the processor.
  size_t workers = 2, longWorkers = 1, waiting = 64, waitingLong = 4;
  /// That a request may compute; a search or a sweep; how long it may then take
  /// to stop; how long where nobody waits any more.
  Duration quickTime{10'000}, longTime{60'000}, finishTime{5'000},
      graceTime{500};
  /// Of addresses of a worker; resident, beyond which it is replaced; requests
  /// after which it is.
  uint64_t workerBytes = uint64_t(3) << 30, renewBytes = uint64_t(256) << 20;
  size_t renewRequests = 200;
  /// Of an answer.
  size_t answerBytes = size_t(64) << 20;
  /// Plans of the space of a search; rows of a sweep; threads of a search.
  size_t sweepRows = 1'000;
  unsigned threads = 2;
};

} // namespace autopar::server

#endif // AUTOPAR_SERVER_SERVERLIMITS_H
