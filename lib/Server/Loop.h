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

/// An object with a descriptor for whose events a loop waits.
class Watched {
public:
  virtual ~Watched() = default;
  virtual int descriptor() const = 0;
  /// Returns the events of `poll` for which the loop waits.
  virtual short events() const = 0;
  virtual void ready(short events) = 0;
  /// Returns when `expire` is to be called; nothing if it is never called.
  virtual std::optional<TimePoint> deadline() const { return std::nullopt; }
  virtual void expire() {}
  /// Returns whether the loop may delete the object.
  virtual bool isOver() const { return false; }
};

/// A loop that does all input and output of a server in one thread.
class Loop {
public:
  void add(std::unique_ptr<Watched> watched);
  /// Waits for the first event, at most until `latest`, and handles it.
  void step(std::optional<TimePoint> latest = std::nullopt);
  /// Deletes all objects.
  void clear() { all.clear(); }

private:
  std::vector<std::unique_ptr<Watched>> all;
};

/// Makes reads and writes of a descriptor return at once; programs that are
/// started do not inherit the descriptor.
void makeNonBlocking(int descriptor);

} // namespace autopar::server

#endif // AUTOPAR_LIB_SERVER_LOOP_H
