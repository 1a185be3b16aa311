//===- Api.cpp ------------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ApiState.h"

#include <nlohmann/json.hpp>

using namespace autopar;
using namespace autopar::hub;
using namespace autopar::session;
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
                                       {"/runtimes", server::listRuntimes},
                                       {"/formats", server::listFormats},
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

HttpResponse Api::answer(const HttpRequest &request, const Progress &progress) {
  std::variant<FoundRoute, Problem> found = routeOf(request);
  if (const auto *problem = std::get_if<Problem>(&found))
    return problem->response();
  auto &[route, id] = std::get<FoundRoute>(found);
  const Handler *handler =
      llvm::find_if(handlers, [path = route->path](const Handler &one) {
        return one.path == path;
      });
  if (handler == std::end(handlers))
    return Problem{404, "no such path"}.response();
  Result<JsonDocument> body = JsonDocument::parse(
      request.method == "POST" ? request.body : "{}", bodyName);
  if (!body)
    return malformed(body.error()).response();
  Call call{request, id, body->reader(), progress ? progress : goOn,
            state->limits};
  if (!call.body.isObject()) {
    call.body.fail("expected an object");
    return problemOf(call.body.takeError()).response();
  }
  Answer answer = handler->answer(state->session, call);
  if (!answer)
    return problemOf(answer.error()).response();
  if (answer->size() > state->limits.answerBytes)
    return Problem{422, "the answer is larger than " +
                            std::to_string(state->limits.answerBytes) +
                            " bytes"}
        .response();
  return {200, "application/json", std::move(*answer)};
}
