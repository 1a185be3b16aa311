//===- Listener.cpp -------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Listener.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

using namespace autopar::server;

void Listener::end() {
  if (socket >= 0)
    close(std::exchange(socket, -1));
}

short Listener::events() const { return POLLIN; }

void Listener::ready(short) {
  // At most 64 clients are accepted at a time, because other clients want to be
  // served too.
  for (int i = 0; i < 64; ++i) {
    int client = accept(socket, nullptr, nullptr);
    if (client < 0)
      return;
    door.enter(client);
  }
}
