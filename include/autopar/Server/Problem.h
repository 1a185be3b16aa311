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

/// Location of errors in a body.
inline constexpr const char *bodyName = "body";
/// Location of the error of a path that names nothing.
inline constexpr const char *pathName = "path";

/// A response of application/problem+json.
struct Problem {
  int status = 400;
  std::string detail;
  /// One error, with its JSON pointer in the body.
  struct Part {
    std::string pointer, detail, note;
    /// The place in a text at that pointer; 0: none.
    int line = 0, column = 0;
  };
  std::vector<Part> errors = {};
  std::vector<Header> headers = {};

  nlohmann::json json() const;
  HttpResponse response() const;
};

/// The problem of `error`: 404 if it is about the path, else 422. Its location
/// becomes a pointer: "config: /layers" becomes /config/layers.
Problem problemOf(const Error &error);
/// 400: the body is no JSON, for `error`.
Problem malformed(const Error &error);

} // namespace autopar::server

#endif // AUTOPAR_SERVER_PROBLEM_H
