//===- Loop.h - Sockets that wait for each other ----------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_SERVER_LOOP_H
#define AUTOPAR_LIB_SERVER_LOOP_H

#include <chrono>
#include <memory>
#include <optional>
#include <vector>

namespace autopar::server {

using TimePoint = std::chrono::steady_clock::time_point;
inline TimePoint now() { return std::chrono::steady_clock::now(); }

/// Something with a descriptor that a loop waits for.
class Watched {
public:
  virtual ~Watched() = default;
  virtual int descriptor() const = 0;
  /// The events of `poll` to wait for.
  virtual short events() const = 0;
  virtual void ready(short events) = 0;
  /// When `expire` is to be called; nothing: never.
  virtual std::optional<TimePoint> deadline() const { return std::nullopt; }
  virtual void expire() {}
  /// Whether the loop may forget it.
  virtual bool isOver() const { return false; }
};

/// One thread that does all input and output of a server.
class Loop {
public:
  void add(std::unique_ptr<Watched> watched);
  /// Waits for the first event, at most until `latest`, and handles it.
  void step(std::optional<TimePoint> latest = std::nullopt);
  /// Forgets all.
  void clear() { all.clear(); }

private:
  std::vector<std::unique_ptr<Watched>> all;
};

/// Makes reads and writes of a descriptor return at once, and programs that are
/// started not have it.
void makeNonBlocking(int descriptor);

} // namespace autopar::server

#endif // AUTOPAR_LIB_SERVER_LOOP_H
