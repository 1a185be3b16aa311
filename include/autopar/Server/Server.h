//===- Server.h - autopar over HTTP -----------------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_SERVER_SERVER_H
#define AUTOPAR_SERVER_SERVER_H

#include "autopar/Server/Guard.h"
#include "autopar/Server/ServerLimits.h"

#include <memory>

namespace autopar::server {

struct ServerOptions {
  std::string host = "127.0.0.1";
  /// The port to listen on; 0: any free one.
  uint16_t port = 8080;
  /// The token that requests must contain; required if other machines can reach
  /// the server.
  std::string token = {};
  ServerLimits limits = {};
};

/// A server of the HTTP API and its web page. One thread reads, checks and
/// writes; worker processes compute, so that every computation that a client
/// asks for can be stopped.
class Server {
public:
  /// Starts to listen. Errors: no such address, a port that is in use, no
  /// token.
  static Result<std::unique_ptr<Server>> open(ServerOptions options);
  ~Server();

  /// Returns the server's URL: "http://127.0.0.1:8080/".
  std::string address() const;
  /// Answers requests until SIGINT or SIGTERM arrives; then tells waiting
  /// clients that it stops.
  void run();

private:
  struct State;
  explicit Server(std::unique_ptr<State> state);
  std::unique_ptr<State> state;
};

} // namespace autopar::server

#endif // AUTOPAR_SERVER_SERVER_H
