//===- Signals.h - Signals that end a server --------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_SERVER_SIGNALS_H
#define AUTOPAR_LIB_SERVER_SIGNALS_H

#include "Loop.h"

namespace autopar::server {

/// Wakes up a loop when SIGINT or SIGTERM comes. Only one object may exist at a
/// time.
class Signals : public Watched {
public:
  Signals();
  ~Signals() override;

  /// Returns whether a signal came.
  static bool came();

  int descriptor() const override { return ends[0]; }
  short events() const override;
  void ready(short events) override;

private:
  int ends[2] = {-1, -1};
};

} // namespace autopar::server

#endif // AUTOPAR_LIB_SERVER_SIGNALS_H
