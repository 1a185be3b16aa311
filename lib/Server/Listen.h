//===- Listen.h - Sockets that listen ---------------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_SERVER_LISTEN_H
#define AUTOPAR_LIB_SERVER_LISTEN_H

#include "autopar/Support/Result.h"

#include <cstdint>

namespace autopar::server {

struct ListeningSocket {
  int descriptor;
  uint16_t port;
  /// Whether only this machine can connect to the socket.
  bool isLocal;
};

/// Listens at an address or a name of this machine. Errors name host and port.
Result<ListeningSocket> listenAt(const std::string &host, uint16_t port);

} // namespace autopar::server

#endif // AUTOPAR_LIB_SERVER_LISTEN_H
