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
  /// 0: any that is free.
  uint16_t port = 8080;
  /// Required in requests; needed if other machines can reach the server.
  std::string token = {};
  ServerLimits limits = {};
};

/// A server of the API and its page. Its one thread reads, checks and writes;
/// processes compute, so that whatever a stranger asks for can be stopped.
class Server {
public:
  /// Listens. Errors: no such address, a port that is taken, no token.
  static Result<std::unique_ptr<Server>> open(ServerOptions options);
  ~Server();

  /// "http://127.0.0.1:8080/".
  std::string address() const;
  /// Answers until SIGINT or SIGTERM comes; then says so to who waits.
  void run();

private:
  struct State;
  explicit Server(std::unique_ptr<State> state);
  std::unique_ptr<State> state;
};

} // namespace autopar::server

#endif // AUTOPAR_SERVER_SERVER_H
