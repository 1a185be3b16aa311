//===- Http.h - Requests and responses of HTTP ------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_SERVER_HTTP_H
#define AUTOPAR_SERVER_HTTP_H

#include <string>
#include <string_view>
#include <vector>

namespace autopar::server {

struct Header {
  /// Name and value of a header; in requests, the name is in lower case.
  std::string name, value;
};

struct HttpRequest {
  /// `path` is decoded, `query` is not.
  std::string method, path, query;
  std::vector<Header> headers = {};
  std::string body = {};

  /// Returns the value of a header; null if the request does not have it.
  const std::string *header(std::string_view name) const;
  /// Whether the request asks for a stream of events.
  bool wantsEvents() const;
};

struct HttpResponse {
  int status = 200;
  std::string type, body;
  std::vector<Header> headers = {};
  /// The Content-Security-Policy header to send with a page; "": none.
  std::string policy = {};
};

/// Returns the reason phrase of an HTTP status: "Not Found".
std::string_view reasonOf(int status);

/// Decodes each %XX of `text`. Returns false if one is malformed or a control
/// character.
bool decodePercents(std::string_view text, std::string &decoded);
/// Returns the decoded value of `name` in the query of a request; "" if it is
/// missing.
std::string parameterOf(const HttpRequest &request, std::string_view name);

/// Returns the head of a response as it is sent. Without `hasLength`, the body
/// ends when the connection does.
std::string headOf(const HttpResponse &response, bool keepsAlive,
                   bool hasLength = true);

} // namespace autopar::server

#endif // AUTOPAR_SERVER_HTTP_H
