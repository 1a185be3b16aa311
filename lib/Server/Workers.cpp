//===- Workers.cpp --------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Workers.h"

#include "WorkerProcess.h"

#include <algorithm>
#include <sys/socket.h>
#include <unistd.h>

using namespace autopar::server;

Workers::~Workers() { stop(); }

void Workers::stop() {
  queue.clear();
  for (WorkerProcess *process : processes)
    process->end();
  processes.clear();
}

bool Workers::add(Client *client, const HttpRequest &request, bool isLong) {
  size_t longJobs = std::count_if(queue.begin(), queue.end(),
                                  [](const Job &job) { return job.isLong; });
  if (queue.size() >= limits.waiting ||
      (isLong && longJobs >= limits.waitingLong))
    return false;
  queue.push_back({client, write(request), isLong});
  assign();
  return true;
}

void Workers::cancel(Client *client) {
  queue.erase(
      std::remove_if(queue.begin(), queue.end(),
                     [&](const Job &job) { return job.client == client; }),
      queue.end());
  for (WorkerProcess *process : processes)
    process->abandon(client);
}

WorkerProcess *Workers::idleWorker(bool forLong) {
  size_t count = 0;
  for (WorkerProcess *process : processes) {
    if (process->isForLong() != forLong)
      continue;
    if (process->isIdle())
      return process;
    ++count;
  }
  size_t most = forLong ? limits.longWorkers : limits.workers;
  return count < most ? start(forLong) : nullptr;
}

/// The niceness of workers for long requests: they use the processor time that
/// other processes leave.
static constexpr int niceness = 10;

/// The first descriptor after the standard streams.
static constexpr int firstDescriptor = 3;

static void closeFrom(int first) {
#ifdef __linux__
  if (close_range(static_cast<unsigned>(first), ~0U, 0) == 0)
    return;
#endif
  int most = static_cast<int>(sysconf(_SC_OPEN_MAX));
  for (int other = first; other < most; ++other)
    close(other);
}

WorkerProcess *Workers::start(bool forLong) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
    return nullptr;
  pid_t process = fork();
  if (process < 0) {
    close(ends[0]);
    close(ends[1]);
    return nullptr;
  }
  if (process == 0) {
    // The connections belong to the server, so that the worker closes them.
    int own = dup2(ends[1], firstDescriptor);
    closeFrom(own + 1);
    if (forLong)
      (void)!nice(niceness);
    runWorker(own, limits);
  }
  close(ends[1]);
  makeNonBlocking(ends[0]);
  auto worker =
      std::make_unique<WorkerProcess>(*this, process, ends[0], forLong);
  processes.push_back(worker.get());
  loop.add(std::move(worker));
  return processes.back();
}

void Workers::assign() {
  for (auto job = queue.begin(); job != queue.end();) {
    WorkerProcess *worker = idleWorker(job->isLong);
    if (!worker) {
      ++job;
      continue;
    }
    Job next = std::move(*job);
    job = queue.erase(job);
    worker->give(std::move(next));
  }
}
