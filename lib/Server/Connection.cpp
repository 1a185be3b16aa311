//===- Connection.cpp -----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Connection.h"

#include "Events.h"

#include <cerrno>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

using namespace autopar::server;

#ifndef POLLRDHUP
#define POLLRDHUP 0
#endif

Connection::Connection(Asked &server, const ServerLimits &limits, int socket)
    : server(server), limits(limits), socket(socket), reader(limits),
      until(now() + limits.headTime) {
  makeNonBlocking(socket);
}

Connection::~Connection() {
  end();
  server.leave(*this);
}

void Connection::end() {
  if (socket < 0)
    return;
  close(std::exchange(socket, -1));
  if (state == State::waiting)
    server.forget(*this);
}

short Connection::events() const {
  switch (state) {
  case State::reading:
  case State::draining:
    return POLLIN;
  case State::waiting:
    return output.empty() ? POLLRDHUP : POLLRDHUP | POLLOUT;
  case State::writing:
    return POLLOUT;
  }
  return 0;
}

void Connection::ready(short events) {
  if (state == State::waiting && (events & (POLLRDHUP | POLLHUP | POLLERR)))
    return end();
  if (events & POLLOUT)
    send();
  if (!isOver() && (events & (POLLIN | POLLHUP | POLLERR)))
    receive();
}

//===----------------------------------------------------------------------===//
// Reading requests
//===----------------------------------------------------------------------===//

void Connection::receive() {
  char buffer[1 << 16];
  ssize_t count = recv(socket, buffer, sizeof(buffer), 0);
  if (count < 0 && (errno == EAGAIN || errno == EINTR))
    return;
  if (count <= 0)
    return end();
  if (state == State::reading)
    read({buffer, static_cast<size_t>(count)});
}

void Connection::read(std::string_view bytes) {
  RequestReader::State before = reader.state();
  if (before == RequestReader::State::head && reader.buffered() == 0)
    until = now() + limits.headTime;
  RequestReader::State after = reader.add(bytes);
  if (before != after && after == RequestReader::State::body) {
    until = now() + limits.bodyTime;
    if (reader.missing() > limits.smallBytes && !server.hasRoom()) {
      keepsAlive = false;
      return write(busy("too many bodies are being read").response());
    }
  }
  if (reader.takeExpectation()) {
    constexpr std::string_view go = "HTTP/1.1 100 Continue\r\n\r\n";
    (void)::send(socket, go.data(), go.size(), MSG_NOSIGNAL);
  }
  proceed(after);
}

void Connection::proceed(RequestReader::State read) {
  if (read == RequestReader::State::refused) {
    keepsAlive = false;
    return write(reader.refusal().response());
  }
  if (read == RequestReader::State::complete)
    ask();
}

void Connection::ask() {
  asked = true;
  keepsAlive = reader.keepsAlive();
  HttpRequest request = reader.take();
  isHead = request.method == "HEAD";
  wantsEvents = request.wantsEvents();
  state = State::waiting;
  // While an answer is computed, the worker has a time limit of its own.
  until = now() + limits.longTime * 100;
  if (std::optional<HttpResponse> response = server.answer(*this, request))
    write(*response);
}

//===----------------------------------------------------------------------===//
// Writing responses
//===----------------------------------------------------------------------===//

void Connection::takeProgress(const std::vector<std::string> &texts) {
  if (!std::exchange(hasEvents, true))
    output += headOf({200, "text/event-stream", ""}, false, false);
  output += progressEvent(texts);
  send();
}

void Connection::takeAnswer(const HttpResponse &response) {
  server.answered(*this, response);
  write(response);
}

void Connection::write(const HttpResponse &response) {
  if (hasEvents) {
    keepsAlive = false;
    output += resultEvent(response);
  } else {
    output += headOf(response, keepsAlive);
    if (!isHead)
      output += response.body;
  }
  state = State::writing;
  until = now() + limits.answerTime;
  send();
}

void Connection::send() {
  while (sent < output.size()) {
    ssize_t count = ::send(socket, output.data() + sent, output.size() - sent,
                           MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
      return;
    if (count <= 0)
      return end();
    sent += static_cast<size_t>(count);
  }
  output.clear();
  sent = 0;
  if (state == State::writing)
    finish();
}

/// Reads the next request. If the connection does not stay open, it first waits
/// a little until the client has taken the output, because closing a socket
/// while bytes arrive would discard the output.
void Connection::finish() {
  hasEvents = false;
  if (!keepsAlive) {
    shutdown(socket, SHUT_WR);
    state = State::draining;
    until = now() + limits.graceTime;
    return;
  }
  state = State::reading;
  until = now() + limits.idleTime;
  // The next request of this connection is read after those of other
  // connections.
  hasMore = reader.buffered() > 0;
}

std::optional<TimePoint> Connection::deadline() const {
  return hasMore ? now() : until;
}

void Connection::expire() {
  if (std::exchange(hasMore, false))
    return read("");
  bool hasBegun = state == State::reading && reader.buffered() > 0;
  if (!hasBegun && reader.state() != RequestReader::State::body)
    return end();
  keepsAlive = false;
  write(Problem{408, "the request did not arrive in time"}.response());
}
