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

/// An HTTP request, as the handler of its route receives it.
struct Call {
  const HttpRequest &request;
  /// The part of the path that stands in place of "{id}" in the route.
  std::string id;
  /// The JSON body of a POST request.
  JsonReader body;
  /// A function that long computations call regularly; they stop if it returns
  /// false.
  Progress progress;
  const ServerLimits &limits;
};

/// Answers the requests that need a model or a library, one after the other. It
/// opens no sockets.
class Api {
public:
  explicit Api(const ServerLimits &limits);
  ~Api();

  /// Answers a request for which `routeOf` has found a route.
  HttpResponse answer(const HttpRequest &request,
                      const Progress &progress = nullptr);

private:
  struct State;
  std::unique_ptr<State> state;
};

} // namespace autopar::server

#endif // AUTOPAR_SERVER_API_H
