//===- Routes.h - Paths of the server ---------------------------*- C++ -*-===//
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
    /// Answered at once, from the server's files.
    document,
    /// Answered by a worker process: `quick` at once, `fixed` with an answer
    /// that is always the same, `longer` by one for long requests.
    quick,
    fixed,
    longer
  };

  std::string_view method, path;
  Kind kind;
};

/// Returns all routes, in the order of the OpenAPI document.
const std::vector<Route> &allRoutes();

struct FoundRoute {
  const Route *route;
  /// The part of the path that stands in place of "{id}" in the route.
  std::string id;
};

/// Returns the route of a request, or the error response 404, 405 or 415 if
/// there is none.
std::variant<FoundRoute, Problem> routeOf(const HttpRequest &request);

} // namespace autopar::server

#endif // AUTOPAR_SERVER_ROUTES_H
