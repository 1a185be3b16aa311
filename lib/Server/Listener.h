//===- Listener.h - Accepts clients -----------------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_SERVER_LISTENER_H
#define AUTOPAR_LIB_SERVER_LISTENER_H

#include "Loop.h"

namespace autopar::server {

/// The interface of an object that is told of new clients.
class Door {
public:
  virtual ~Door() = default;
  virtual void enter(int socket) = 0;
};

class Listener : public Watched {
public:
  Listener(Door &door, int socket) : door(door), socket(socket) {}
  ~Listener() override { end(); }
  void end();

  int descriptor() const override { return socket; }
  short events() const override;
  void ready(short events) override;
  bool isOver() const override { return socket < 0; }

private:
  Door &door;
  int socket;
};

} // namespace autopar::server

#endif // AUTOPAR_LIB_SERVER_LISTENER_H
