//===- Api.cpp ------------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ApiState.h"

#include <nlohmann/json.hpp>

using namespace autopar;
using namespace autopar::server;

namespace {
struct Handler {
  std::string_view path;
  Answer (*answer)(Session &, const Call &);
};
} // namespace

static constexpr Handler handlers[] = {{"/models", listModels},
                                       {"/models/{id}", showModel},
                                       {"/hardware", server::listHardware},
                                       {"/hardware/{id}", server::showHardware},
                                       {"/layers", listLayers},
                                       {"/import", server::importModel},
                                       {"/estimate", server::estimate},
                                       {"/compare", server::compare},
                                       {"/layer-metrics", measureLayers},
                                       {"/system-metrics", measureSystem},
                                       {"/search", server::search},
                                       {"/sweep", server::sweep},
                                       {"/placement", server::place}};

std::string autopar::server::jsonString(const std::string &text) {
  using nlohmann::json;
  return json(text).dump(-1, ' ', false, json::error_handler_t::replace);
}

Api::Api(const ServerLimits &limits) : state(std::make_unique<State>(limits)) {}
Api::~Api() = default;

static bool goOn(std::string_view, size_t, size_t) { return true; }

static Answer answerOf(Session &session, const Handler &handler,
                       const HttpRequest &request, std::string id,
                       const Progress &progress, const ServerLimits &limits) {
  bool hasBody = request.method == "POST";
  Result<JsonDocument> body =
      JsonDocument::parse(hasBody ? request.body : "{}", bodyName);
  if (!body)
    return body.error();
  JsonReader reader = body->reader();
  if (!reader.isObject()) {
    reader.fail("expected an object");
    return reader.takeError();
  }
  return handler.answer(session, Call{request, std::move(id), reader,
                                      progress ? progress : goOn, limits});
}

HttpResponse Api::answer(const HttpRequest &request, const Progress &progress) {
  std::variant<FoundRoute, Problem> found = routeOf(request);
  if (const auto *problem = std::get_if<Problem>(&found))
    return problem->response();
  auto &[route, id] = std::get<FoundRoute>(found);
  for (const Handler &handler : handlers) {
    if (handler.path != route->path)
      continue;
    Answer answer =
        answerOf(state->session, handler, request, id, progress, state->limits);
    if (!answer)
      return problemOf(answer.error()).response();
    if (answer->size() > state->limits.answerBytes)
      return Problem{422, "the answer is larger than " +
                              std::to_string(state->limits.answerBytes) +
                              " bytes"}
          .response();
    return {200, "application/json", std::move(*answer)};
  }
  return Problem{404, "no such path"}.response();
}
