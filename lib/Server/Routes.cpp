//===- Routes.cpp ---------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Server/Routes.h"

#include "autopar/Support/Text.h"

using namespace autopar;
using namespace autopar::server;

const std::vector<Route> &autopar::server::allRoutes() {
  using Kind = Route::Kind;
  static const std::vector<Route> routes = {
      {"GET", "/", Kind::document},
      {"GET", "/openapi.json", Kind::document},
      {"GET", "/schemas/{id}", Kind::document},
      {"GET", "/healthz", Kind::document},
      {"GET", "/models", Kind::fixed},
      {"GET", "/models/{id}", Kind::fixed},
      {"GET", "/hardware", Kind::fixed},
      {"GET", "/hardware/{id}", Kind::fixed},
      {"GET", "/runtimes", Kind::fixed},
      {"GET", "/formats", Kind::fixed},
      {"GET", "/layers", Kind::fixed},
      {"POST", "/import", Kind::quick},
      {"POST", "/estimate", Kind::quick},
      {"POST", "/compare", Kind::quick},
      {"POST", "/layer-metrics", Kind::quick},
      {"POST", "/system-metrics", Kind::quick},
      {"POST", "/placement", Kind::quick},
      {"POST", "/search", Kind::longer},
      {"POST", "/sweep", Kind::longer}};
  return routes;
}

/// Returns the part of `path` that stands in place of "{id}" in `pattern`;
/// nothing if `path` does not match.
static std::optional<std::string> match(std::string_view pattern,
                                        std::string_view path) {
  size_t brace = pattern.find('{');
  if (brace == pattern.npos)
    return pattern == path ? std::optional(std::string()) : std::nullopt;
  if (path.substr(0, brace) != pattern.substr(0, brace))
    return std::nullopt;
  std::string_view id = path.substr(brace);
  if (id.empty() || id.find('/') != id.npos)
    return std::nullopt;
  return std::string(id);
}

static bool isJson(const HttpRequest &request) {
  const std::string *type = request.header("content-type");
  return type && type->substr(0, type->find(';')) == "application/json";
}

std::variant<FoundRoute, Problem>
autopar::server::routeOf(const HttpRequest &request) {
  // A HEAD request is answered like GET, without the body.
  std::string method = request.method == "HEAD" ? "GET" : request.method;
  std::vector<std::string> allowed;
  for (const Route &route : allRoutes()) {
    std::optional<std::string> id = match(route.path, request.path);
    if (!id)
      continue;
    if (route.method != method) {
      allowed.emplace_back(route.method == "GET" ? "GET, HEAD" : route.method);
      continue;
    }
    if (method == "POST" && !isJson(request))
      return Problem{415, "expected a body of Content-Type: application/json"};
    return FoundRoute{&route, std::move(*id)};
  }
  if (allowed.empty())
    return Problem{404, "no such path: GET /openapi.json has all of them"};
  Problem problem{405, "expected " + join(allowed, ", ")};
  problem.headers = {{"Allow", join(allowed, ", ")}};
  return problem;
}
