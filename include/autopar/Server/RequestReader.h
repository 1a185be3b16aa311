//===- RequestReader.h - A request as its bytes come ------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_SERVER_REQUESTREADER_H
#define AUTOPAR_SERVER_REQUESTREADER_H

#include "autopar/Server/Problem.h"
#include "autopar/Server/ServerLimits.h"

namespace autopar::server {

/// Reads HTTP/1.1 requests from bytes, strictly: ambiguous requests are
/// refused. Bodies must have a length; chunked bodies are refused.
class RequestReader {
public:
  enum class State { head, body, complete, refused };

  explicit RequestReader(const ServerLimits &limits) : limits(limits) {}

  State add(std::string_view bytes);
  State state() const { return now; }
  /// Returns the complete request, and begins to read the next one.
  HttpRequest take();
  /// Returns why the request was refused.
  const Problem &refusal() const { return problem; }

  /// `buffered`: bytes that are held. `missing`: bytes that the body still
  /// needs.
  size_t buffered() const { return buffer.size(); }
  size_t missing() const {
    return now == State::body ? length - buffer.size() : 0;
  }
  /// Whether the connection stays open after this request.
  bool keepsAlive() const { return alive; }
  /// Returns whether the client waits for "100 Continue" before it sends the
  /// body; true only once per request.
  bool takeExpectation();

private:
  void readHead();
  bool readFirstLine(std::string_view line);
  bool readHeader(std::string_view line);
  bool readLength();
  bool refuse(int status, std::string detail);

  const ServerLimits &limits;
  State now = State::head;
  std::string buffer;
  HttpRequest request;
  Problem problem;
  size_t length = 0;
  bool alive = true, expects = false;
};

} // namespace autopar::server

#endif // AUTOPAR_SERVER_REQUESTREADER_H
