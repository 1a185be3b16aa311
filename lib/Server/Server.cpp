//===- Server.cpp ---------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Server/Server.h"

#include "Connection.h"
#include "Events.h"
#include "Listen.h"
#include "Listener.h"
#include "Signals.h"
#include "autopar/Server/Documents.h"
#include "autopar/Server/Routes.h"

#include <algorithm>
#include <map>
#include <sys/socket.h>
#include <unistd.h>

using namespace autopar;
using namespace autopar::server;

struct Server::State : Asked, Door {
  State(ServerOptions given, const ListeningSocket &socket)
      : options(std::move(given)), workers(loop, options.limits) {
    access = {socket.isLocal, socket.port, options.host, options.token};
    auto listens = std::make_unique<Listener>(*this, socket.descriptor);
    listener = listens.get();
    loop.add(std::move(listens));
  }
  ~State() override {
    workers.stop();
    loop.clear();
  }

  void enter(int socket) override;
  std::optional<HttpResponse> answer(Connection &connection,
                                     const HttpRequest &request) override;
  void answered(Connection &connection, const HttpResponse &response) override;
  void forget(Connection &connection) override;
  void leave(Connection &connection) override;
  bool hasRoom() const override;
  std::optional<HttpResponse>
  work(Connection &connection, const HttpRequest &request, Route::Kind kind);
  bool makeRoom();
  bool isQuiet() const;
  void close();

  const ServerOptions options;
  Access access;
  Loop loop;
  Workers workers;
  /// The listener and the connections; the loop owns them.
  Listener *listener = nullptr;
  std::vector<Connection *> connections;
  /// The answers of paths that always have the same answer (`kept`), and the
  /// path for whose answer each connection waits (`waiting`).
  std::map<std::string, HttpResponse> kept;
  std::map<Connection *, std::string> waiting;
};

/// The largest number of answers that are kept; there are some hundred paths,
/// and the same path with another query is another path.
static constexpr size_t maxKept = 256;

//===----------------------------------------------------------------------===//
// Clients that connect and leave
//===----------------------------------------------------------------------===//

/// Closes the connection that has been open longest without asking for
/// anything; if there is none, the one that has been open longest among those
/// that ask for nothing now. Returns whether there was one.
bool Server::State::makeRoom() {
  size_t count = std::count_if(connections.begin(), connections.end(),
                               [](auto *one) { return !one->isOver(); });
  if (count < options.limits.connections)
    return true;
  for (bool hasAsked : {false, true})
    for (Connection *one : connections)
      if (!one->isOver() && one->isReading() && one->hasAsked() == hasAsked)
        return one->end(), true;
  return false;
}

void Server::State::enter(int socket) {
  if (makeRoom()) {
    auto connection =
        std::make_unique<Connection>(*this, options.limits, socket);
    connections.push_back(connection.get());
    loop.add(std::move(connection));
    return;
  }
  HttpResponse response = busy("there are too many connections").response();
  std::string text = headOf(response, false) + response.body;
  (void)send(socket, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  ::close(socket);
}

bool Server::State::hasRoom() const {
  size_t all = 0;
  for (const Connection *one : connections)
    all += one->buffered();
  return all <= options.limits.bufferedBytes;
}

void Server::State::forget(Connection &connection) {
  waiting.erase(&connection);
  workers.cancel(&connection);
}

void Server::State::leave(Connection &connection) {
  connections.erase(
      std::remove(connections.begin(), connections.end(), &connection),
      connections.end());
}

//===----------------------------------------------------------------------===//
// Answering requests
//===----------------------------------------------------------------------===//

std::optional<HttpResponse> Server::State::answer(Connection &connection,
                                                  const HttpRequest &request) {
  if (std::optional<HttpResponse> response = signIn(request, access))
    return response;
  if (std::optional<Problem> problem = guard(request, access))
    return problem->response();
  std::variant<FoundRoute, Problem> found = routeOf(request);
  if (const auto *problem = std::get_if<Problem>(&found))
    return problem->response();
  auto &[route, id] = std::get<FoundRoute>(found);
  if (route->kind == Route::Kind::document)
    return documentOf(request, id);
  return work(connection, request, route->kind);
}

std::optional<HttpResponse> Server::State::work(Connection &connection,
                                                const HttpRequest &request,
                                                Route::Kind kind) {
  std::string key = request.path + "?" + request.query;
  if (kind == Route::Kind::fixed) {
    if (auto it = kept.find(key); it != kept.end())
      return it->second;
    waiting[&connection] = key;
  }
  if (workers.add(&connection, request, kind == Route::Kind::longer))
    return std::nullopt;
  waiting.erase(&connection);
  return busy("too many requests wait already").response();
}

void Server::State::answered(Connection &connection,
                             const HttpResponse &response) {
  auto it = waiting.find(&connection);
  if (it == waiting.end())
    return;
  if (response.status == 200 && kept.size() < maxKept)
    kept[it->second] = response;
  waiting.erase(it);
}

//===----------------------------------------------------------------------===//
// Ending the server
//===----------------------------------------------------------------------===//

bool Server::State::isQuiet() const {
  return std::none_of(connections.begin(), connections.end(), [](auto *one) {
    return !one->isOver() && one->isWriting();
  });
}

void Server::State::close() {
  listener->end();
  workers.stop();
  HttpResponse response = Problem{503, "the server ends"}.response();
  for (Connection *one : std::vector(connections))
    if (one->isWaiting())
      one->takeAnswer(response);
  for (TimePoint last = now() + std::chrono::seconds(1);
       !isQuiet() && now() < last;)
    loop.step(last);
}

void Server::run() {
  auto signals = std::make_unique<Signals>();
  state->loop.add(std::move(signals));
  while (!Signals::came())
    state->loop.step();
  state->close();
}

//===----------------------------------------------------------------------===//
// Starting the server
//===----------------------------------------------------------------------===//

Server::Server(std::unique_ptr<State> state) : state(std::move(state)) {}
Server::~Server() = default;

std::string Server::address() const {
  const std::string &host = state->options.host;
  bool isSix = host.find(':') != host.npos;
  return "http://" + (isSix ? "[" + host + "]" : host) + ":" +
         std::to_string(state->access.port) + "/";
}

Result<std::unique_ptr<Server>> Server::open(ServerOptions options) {
  Result<ListeningSocket> socket = listenAt(options.host, options.port);
  if (!socket)
    return socket.error();
  if (!socket->isLocal && options.token.empty()) {
    ::close(socket->descriptor);
    return Error{"",
                 "--host=" + options.host +
                     " lets other machines in, which needs a token",
                 "--token=... (requests then say it), or leave --host out"};
  }
  return std::unique_ptr<Server>(
      new Server(std::make_unique<State>(std::move(options), *socket)));
}
