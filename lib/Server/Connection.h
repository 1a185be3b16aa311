//===- Connection.h - A client of a server ----------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_SERVER_CONNECTION_H
#define AUTOPAR_LIB_SERVER_CONNECTION_H

#include "Loop.h"
#include "Workers.h"
#include "autopar/Server/RequestReader.h"

namespace autopar::server {

class Connection;

/// The interface of a server for its connections.
class Asked {
public:
  virtual ~Asked() = default;
  /// Returns the answer to a request; nothing if `connection` gets the answer
  /// later.
  virtual std::optional<HttpResponse> answer(Connection &connection,
                                             const HttpRequest &request) = 0;
  /// Called when the connection gets this response.
  virtual void answered(Connection &connection,
                        const HttpResponse &response) = 0;
  /// Called when the connection does not wait for an answer any more.
  virtual void forget(Connection &connection) = 0;
  /// Called when the connection is closed.
  virtual void leave(Connection &connection) = 0;
  /// Returns whether there is room for all bodies that are being read.
  virtual bool hasRoom() const = 0;
};

/// Reads requests of a client one after another, and writes the responses.
class Connection : public Watched, public Client {
public:
  Connection(Asked &server, const ServerLimits &limits, int socket);
  ~Connection() override;

  void takeProgress(const std::vector<std::string> &texts) override;
  void takeAnswer(const HttpResponse &response) override;
  /// Ends the connection at once.
  void end();
  bool hasAsked() const { return asked; }
  bool isReading() const { return state == State::reading; }
  bool isWaiting() const { return state == State::waiting; }
  bool isWriting() const { return state == State::writing; }
  size_t buffered() const { return reader.buffered() + reader.missing(); }

  int descriptor() const override { return socket; }
  short events() const override;
  void ready(short events) override;
  std::optional<TimePoint> deadline() const override;
  void expire() override;
  bool isOver() const override { return socket < 0; }

private:
  enum class State { reading, waiting, writing, draining };

  void receive();
  void read(std::string_view bytes);
  void proceed(RequestReader::State read);
  void ask();
  void write(const HttpResponse &response);
  void send();
  void finish();

  Asked &server;
  const ServerLimits &limits;
  int socket;
  State state = State::reading;
  RequestReader reader;
  std::string output;
  /// How many bytes of the output were sent.
  size_t sent = 0;
  TimePoint until;
  bool keepsAlive = true, isHead = false, asked = false;
  /// Whether more bytes came after the last request.
  bool hasMore = false;
  /// Whether the client wants the answer as a stream of events, and whether the
  /// head of this stream was sent.
  bool wantsEvents = false, hasEvents = false;
};

} // namespace autopar::server

#endif // AUTOPAR_LIB_SERVER_CONNECTION_H
