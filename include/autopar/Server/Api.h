//===- Api.h - Answers by path ----------------------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_SERVER_API_H
#define AUTOPAR_SERVER_API_H

#include "autopar/Server/Problem.h"
#include "autopar/Server/Routes.h"
#include "autopar/Server/ServerLimits.h"
#include "autopar/Support/Json.h"
#include "autopar/Support/Progress.h"

#include <memory>

namespace autopar::server {

/// A request that a handler answers.
struct Call {
  const HttpRequest &request;
  /// The part of the path in place of "{id}".
  std::string id;
  /// The body of a POST.
  JsonReader body;
  /// Called regularly by long calls; stops them by returning false.
  Progress progress;
  const ServerLimits &limits;
};

/// The answers that need a model or a library: one after another, no sockets.
class Api {
public:
  explicit Api(const ServerLimits &limits);
  ~Api();

  /// Answers a request whose route `routeOf` has found.
  HttpResponse answer(const HttpRequest &request,
                      const Progress &progress = nullptr);

private:
  struct State;
  std::unique_ptr<State> state;
};

} // namespace autopar::server

#endif // AUTOPAR_SERVER_API_H
