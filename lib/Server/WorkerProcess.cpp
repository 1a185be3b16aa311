//===- WorkerProcess.cpp --------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WorkerProcess.h"

#include <algorithm>
#include <cerrno>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

using namespace autopar::server;

WorkerProcess::~WorkerProcess() { end(); }

void WorkerProcess::end() {
  if (socket < 0)
    return;
  close(std::exchange(socket, -1));
  if (process < 0)
    return;
  kill(process, SIGKILL);
  waitpid(std::exchange(process, -1), nullptr, 0);
}

void WorkerProcess::give(Job next) {
  job = std::move(next);
  output = std::move(job->bytes);
  sent = 0;
  isStopping = false;
  stopAt = now() + (forLong ? all.limits.longTime : all.limits.quickTime);
  send();
}

void WorkerProcess::stopWorking(Duration grace) {
  isStopping = true;
  stopAt = now() + grace;
  kill(process, stopSignal);
}

void WorkerProcess::abandon(Client *client) {
  if (!job || job->client != client)
    return;
  job->client = nullptr;
  stopWorking(all.limits.graceTime);
}

short WorkerProcess::events() const {
  return output.empty() ? POLLIN : POLLIN | POLLOUT;
}

std::optional<TimePoint> WorkerProcess::deadline() const {
  return job ? std::optional(stopAt) : std::nullopt;
}

void WorkerProcess::expire() {
  if (!isStopping)
    return stopWorking(all.limits.finishTime);
  Duration most = forLong ? all.limits.longTime : all.limits.quickTime;
  leave(Problem{422, "this takes longer than a server computes, " +
                         std::to_string(most.count() / 1000) +
                         " s; the command line has no limit"});
}

void WorkerProcess::leave(std::optional<Problem> problem) {
  std::optional<Job> left = std::exchange(job, std::nullopt);
  end();
  auto &processes = all.processes;
  processes.erase(std::find(processes.begin(), processes.end(), this));
  if (left && left->client && problem)
    left->client->takeAnswer(problem->response());
  all.assign();
}

void WorkerProcess::send() {
  while (!output.empty()) {
    ssize_t count = ::send(socket, output.data() + sent, output.size() - sent,
                           MSG_NOSIGNAL);
    if (count <= 0)
      return;
    sent += static_cast<size_t>(count);
    if (sent == output.size()) {
      output.clear();
      sent = 0;
    }
  }
}

void WorkerProcess::take(Message message) {
  Client *client = job ? job->client : nullptr;
  if (message.kind == Message::Kind::progress) {
    if (client)
      client->takeProgress(message.texts);
    return;
  }
  bool ends = isLast(message);
  HttpResponse response = responseOf(std::move(message));
  job.reset();
  if (ends)
    leave(std::nullopt);
  if (client)
    client->takeAnswer(response);
  all.assign();
}

/// Returns the problem that says why a process ended in the middle of its work.
static Problem whyEnded(int status) {
  if (WIFEXITED(status) && WEXITSTATUS(status) == outOfMemoryCode)
    return {422, "this takes more memory than a server gives; the command "
                 "line has no limit"};
  return {500, "autopar failed here, which is a defect: the request is worth "
               "a report"};
}

void WorkerProcess::receive() {
  char buffer[1 << 16];
  while (socket >= 0) {
    ssize_t count = recv(socket, buffer, sizeof(buffer), 0);
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
      return;
    if (count <= 0) {
      int status = 0;
      if (job)
        waitpid(std::exchange(process, -1), &status, 0);
      return leave(whyEnded(status));
    }
    input.append(buffer, static_cast<size_t>(count));
    while (std::optional<Message> message = readMessage(input))
      take(std::move(*message));
  }
}

void WorkerProcess::ready(short events) {
  if (events & POLLOUT)
    send();
  if (socket >= 0 && (events & (POLLIN | POLLHUP | POLLERR)))
    receive();
}
