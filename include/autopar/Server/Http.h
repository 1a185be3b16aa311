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
  /// In lower case, of a request.
  std::string name, value;
};

struct HttpRequest {
  /// `path` is decoded, `query` is not.
  std::string method, path, query;
  std::vector<Header> headers = {};
  std::string body = {};

  /// The value of a header, null where there is none.
  const std::string *header(std::string_view name) const;
  /// Whether it asks for events of a stream.
  bool wantsEvents() const;
};

struct HttpResponse {
  int status = 200;
  std::string type, body;
  std::vector<Header> headers = {};
  /// The Content-Security-Policy of a page.
  std::string policy = {};
};

/// "Not Found".
std::string_view reasonOf(int status);

/// `text` with %XX decoded; false where that is malformed or a control
/// character.
bool decodePercents(std::string_view text, std::string &decoded);
/// The value of `name` in a query, decoded; "" where there is none.
std::string parameterOf(const HttpRequest &request, std::string_view name);

/// The head of a response as sent. Without `hasLength`, the body lasts until
/// the connection ends.
std::string headOf(const HttpResponse &response, bool keepsAlive,
                   bool hasLength = true);

} // namespace autopar::server

#endif // AUTOPAR_SERVER_HTTP_H
