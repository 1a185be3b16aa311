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

/// Whom a server answers.
struct Access {
  /// Whether only this machine reaches it.
  bool isLocal = true;
  uint16_t port = 0;
  /// The host that it listens on, as the user gave it.
  std::string host = {};
  /// Required in every request; "": none is required.
  std::string token = {};
};

/// Refuses requests that other sites had a browser make, and those without the
/// token.
std::optional<Problem> guard(const HttpRequest &request, const Access &access);

/// The answer to "/?token=..." of who has it: a cookie in place of the token.
std::optional<HttpResponse> signIn(const HttpRequest &request,
                                   const Access &access);

} // namespace autopar::server

#endif // AUTOPAR_SERVER_GUARD_H
