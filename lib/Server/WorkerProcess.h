//===- WorkerProcess.h - One process behind a server ------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_SERVER_WORKERPROCESS_H
#define AUTOPAR_LIB_SERVER_WORKERPROCESS_H

#include "Worker.h"
#include "Workers.h"

#include <sys/types.h>

namespace autopar::server {

/// A worker process as the server sees it.
class WorkerProcess : public Watched {
public:
  WorkerProcess(Workers &all, pid_t process, int socket, bool forLong)
      : all(all), process(process), socket(socket), forLong(forLong) {}
  ~WorkerProcess() override;

  bool isIdle() const { return !job; }
  bool isForLong() const { return forLong; }
  void give(Job next);
  /// Stops the job of `client`.
  void abandon(Client *client);
  /// Kills the process at once.
  void end();

  int descriptor() const override { return socket; }
  short events() const override;
  void ready(short events) override;
  std::optional<TimePoint> deadline() const override;
  void expire() override;
  bool isOver() const override { return socket < 0; }

private:
  void send();
  void receive();
  void take(Message message);
  void stopWorking(Duration grace);
  /// Handles the end of the process: its job is answered with `problem`.
  void leave(std::optional<Problem> problem);

  Workers &all;
  pid_t process;
  int socket;
  const bool forLong;
  std::optional<Job> job;
  std::string input, output;
  /// How many bytes of the output were sent.
  size_t sent = 0;
  /// When the process is to stop its work or, if it is stopping, when it is
  /// killed.
  TimePoint stopAt;
  bool isStopping = false;
};

} // namespace autopar::server

#endif // AUTOPAR_LIB_SERVER_WORKERPROCESS_H
