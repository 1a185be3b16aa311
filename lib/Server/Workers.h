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

/// The receiver of an answer.
class Client {
public:
  virtual ~Client() = default;
  virtual void takeProgress(const std::vector<std::string> &texts) = 0;
  virtual void takeAnswer(const HttpResponse &response) = 0;
};

/// A request for a worker.
struct Job {
  /// Null where it has gone.
  Client *client;
  std::string bytes;
  bool isLong;
};

class WorkerProcess;

/// Starts workers on demand, and gives them jobs in order; long jobs go to
/// workers of their own, with lower priority. Processes can be stopped at any
/// time, and return all their memory.
class Workers {
public:
  Workers(Loop &loop, const ServerLimits &limits)
      : loop(loop), limits(limits) {}
  ~Workers();

  /// False where too much waits already.
  bool add(Client *client, const HttpRequest &request, bool isLong);
  /// Called when `client` does not want its answer any more.
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
