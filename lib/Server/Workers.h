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

/// The interface of an object that receives an answer.
class Client {
public:
  virtual ~Client() = default;
  virtual void takeProgress(const std::vector<std::string> &texts) = 0;
  virtual void takeAnswer(const HttpResponse &response) = 0;
};

/// A request that a worker is to answer.
struct Job {
  /// The receiver of the answer; null if it has gone.
  Client *client;
  std::string bytes;
  bool isLong;
};

class WorkerProcess;

/// Starts workers on demand and gives them jobs in order. Long jobs go to
/// workers of their own, with lower priority. Worker processes can be stopped
/// at any time, and then return all their memory.
class Workers {
public:
  Workers(Loop &loop, const ServerLimits &limits)
      : loop(loop), limits(limits) {}
  ~Workers();

  /// Adds a job. Returns false if too many jobs wait already.
  bool add(Client *client, const HttpRequest &request, bool isLong);
  /// Called when `client` does not want its answer any more.
  void cancel(Client *client);
  /// Ends all worker processes.
  void stop();

private:
  friend class WorkerProcess;
  void assign();
  /// Returns a worker without work, out of those for long work or of the
  /// others; null if there is none.
  WorkerProcess *idleWorker(bool forLong);
  WorkerProcess *start(bool forLong);

  Loop &loop;
  const ServerLimits &limits;
  std::deque<Job> queue;
  /// The worker processes; the loop owns them.
  std::vector<WorkerProcess *> processes;
};

} // namespace autopar::server

#endif // AUTOPAR_LIB_SERVER_WORKERS_H
