//===- Routes.h - Which paths there are -------------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_SERVER_ROUTES_H
#define AUTOPAR_SERVER_ROUTES_H

#include "autopar/Server/Http.h"
#include "autopar/Server/Problem.h"

#include <variant>
#include <vector>

namespace autopar::server {

struct Route {
  enum class Kind {
    /// Answered at once, from what the server has.
    document,
    /// Of a worker; always the same, of a worker; of a worker, for long.
    quick,
    fixed,
    longer
  };

  std::string_view method, path;
  Kind kind;
};

/// All of them, in the order of the OpenAPI document.
const std::vector<Route> &allRoutes();

struct FoundRoute {
  const Route *route;
  /// What stands for "{id}".
  std::string id;
};

/// The route of a request; 404, 405 or 415 where there is none.
std::variant<FoundRoute, Problem> routeOf(const HttpRequest &request);

} // namespace autopar::server

#endif // AUTOPAR_SERVER_ROUTES_H
