//===- Workers.h - The processes behind a server ----------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_SERVER_WORKERS_H
#define AUTOPAR_LIB_SERVER_WORKERS_H

#include "Channel.h"
#include "Loop.h"
#include "autopar/Server/Problem.h"
#include "autopar/Server/ServerLimits.h"

#include <deque>

namespace autopar::server {

/// Who waits for an answer.
class Client {
public:
  virtual ~Client() = default;
  virtual void takeProgress(const std::vector<std::string> &texts) = 0;
  virtual void takeAnswer(const HttpResponse &response) = 0;
};

/// What a worker is to do.
struct Job {
  /// Null where it has gone.
  Client *client;
  std::string bytes;
  bool isLong;
};

class WorkerProcess;

/// Starts workers when there is work, and gives it to them in order: what takes
/// long to workers of its own, behind which others come first. A process is
/// what can be stopped, whatever it does, and gives all its memory back.
class Workers {
public:
  Workers(Loop &loop, const ServerLimits &limits)
      : loop(loop), limits(limits) {}
  ~Workers();

  /// False where too much waits already.
  bool add(Client *client, const HttpRequest &request, bool isLong);
  /// Nobody wants the answer for `client` any more.
  void cancel(Client *client);
  /// Ends all processes.
  void stop();

private:
  friend class WorkerProcess;
  void assign();
  /// One without work, of those for long work or the others; null: none.
  WorkerProcess *idleWorker(bool forLong);
  WorkerProcess *start(bool forLong);

  Loop &loop;
  const ServerLimits &limits;
  std::deque<Job> queue;
  /// Owned by the loop.
  std::vector<WorkerProcess *> processes;
};

} // namespace autopar::server

#endif // AUTOPAR_LIB_SERVER_WORKERS_H
