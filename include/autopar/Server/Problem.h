//===- Problem.h - Errors as RFC 9457 has them ------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_SERVER_PROBLEM_H
#define AUTOPAR_SERVER_PROBLEM_H

#include "autopar/Server/Http.h"
#include "autopar/Support/Result.h"

#include <nlohmann/json_fwd.hpp>

namespace autopar::server {

/// The location that errors of a request's body have.
inline constexpr const char *bodyName = "body";
/// The location of the error for a path that names nothing.
inline constexpr const char *pathName = "path";

/// An error response of the type application/problem+json.
struct Problem {
  int status = 400;
  std::string detail;
  /// One error in the request, with its JSON pointer in the body.
  struct Part {
    std::string pointer, detail, note;
    /// Line and column of the error, if the value at the pointer is a text; 0:
    /// none.
    int line = 0, column = 0;
  };
  std::vector<Part> errors = {};
  std::vector<Header> headers = {};

  nlohmann::json json() const;
  HttpResponse response() const;
};

/// Returns the response for `error`: status 404 if the error is about the path,
/// else 422. The location becomes a pointer: "config: /layers" becomes
/// /config/layers.
Problem problemOf(const Error &error);
/// Returns the response with status 400 for a body that is not JSON.
Problem malformed(const Error &error);

} // namespace autopar::server

#endif // AUTOPAR_SERVER_PROBLEM_H
