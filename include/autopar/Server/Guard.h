//===- Guard.h - Who may ask ------------------------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_SERVER_GUARD_H
#define AUTOPAR_SERVER_GUARD_H

#include "autopar/Server/Problem.h"

#include <cstdint>
#include <optional>

namespace autopar::server {

/// Which requests a server answers.
struct Access {
  /// Whether only this machine can reach the server.
  bool isLocal = true;
  uint16_t port = 0;
  /// The host on which the server listens, as the user gave it.
  std::string host = {};
  /// The token that every request must contain; "": none is needed.
  std::string token = {};
};

/// Refuses requests that another site made a browser send, and those without
/// the token.
std::optional<Problem> guard(const HttpRequest &request, const Access &access);

/// Answers the request "/?token=..." with the right token by setting a cookie,
/// which later requests send instead of the token.
std::optional<HttpResponse> signIn(const HttpRequest &request,
                                   const Access &access);

} // namespace autopar::server

#endif // AUTOPAR_SERVER_GUARD_H
