//===- Signals.cpp --------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Signals.h"

#include <csignal>
#include <poll.h>
#include <unistd.h>

using namespace autopar::server;

static volatile std::sig_atomic_t hasCome = 0;
static int writeEnd = -1;

extern "C" void noteSignal(int) {
  hasCome = 1;
  (void)!write(writeEnd, "", 1);
}

Signals::Signals() {
  if (pipe(ends) == 0)
    for (int end : ends)
      makeNonBlocking(end);
  writeEnd = ends[1];
  hasCome = 0;
  std::signal(SIGINT, noteSignal);
  std::signal(SIGTERM, noteSignal);
}

Signals::~Signals() {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
  for (int end : ends)
    close(end);
}

bool Signals::came() { return hasCome != 0; }

short Signals::events() const { return POLLIN; }

void Signals::ready(short) {
  char buffer[16];
  (void)!read(ends[0], buffer, sizeof(buffer));
}
