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
    /// Answered by a worker; by a worker, and always the same; by a worker,
    /// slowly.
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
  /// The part of the path in place of "{id}".
  std::string id;
};

/// The route of a request; 404, 405 or 415 where there is none.
std::variant<FoundRoute, Problem> routeOf(const HttpRequest &request);

} // namespace autopar::server

#endif // AUTOPAR_SERVER_ROUTES_H
