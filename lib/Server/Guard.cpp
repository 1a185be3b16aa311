//===- Guard.cpp ----------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Server/Guard.h"

#include <algorithm>

using namespace autopar::server;

/// Compares a token in constant time, whichever of its characters differ.
static bool isToken(std::string_view given, const std::string &token) {
  unsigned char differs = given.size() != token.size();
  for (size_t i = 0; i < std::min(given.size(), token.size()); ++i)
    differs |= static_cast<unsigned char>(given[i] ^ token[i]);
  return !token.empty() && differs == 0;
}

static constexpr std::string_view cookieName = "autopar-token=";

static bool hasToken(const HttpRequest &request, const Access &access) {
  constexpr std::string_view bearer = "Bearer ";
  if (const std::string *given = request.header("authorization"))
    return given->compare(0, bearer.size(), bearer) == 0 &&
           isToken(std::string_view(*given).substr(bearer.size()),
                   access.token);
  const std::string *cookies = request.header("cookie");
  std::string_view rest = cookies ? *cookies : std::string_view();
  while (!rest.empty()) {
    std::string_view one = rest.substr(0, rest.find(';'));
    rest.remove_prefix(std::min(rest.size(), one.size() + 1));
    one.remove_prefix(std::min(one.find_first_not_of(' '), one.size()));
    if (one.substr(0, cookieName.size()) == cookieName &&
        isToken(one.substr(cookieName.size()), access.token))
      return true;
  }
  return false;
}

/// Returns whether `host` is a name of this machine only. A site whose name
/// resolves to this machine is none of these names.
static bool isLocalHost(const std::string &host, const Access &access) {
  std::string port = ":" + std::to_string(access.port);
  for (const std::string &name :
       {std::string("127.0.0.1"), std::string("localhost"),
        std::string("[::1]"), access.host})
    if (host == name + port || (access.port == 80 && host == name))
      return true;
  return false;
}

std::optional<Problem> autopar::server::guard(const HttpRequest &request,
                                              const Access &access) {
  const std::string *host = request.header("host");
  if (!host || (access.isLocal && !isLocalHost(*host, access)))
    return Problem{403, "the header Host is not this server's name"};
  const std::string *origin = request.header("origin");
  if (origin && *origin != "http://" + *host && *origin != "https://" + *host)
    return Problem{403, "the request is another site's (Origin)"};
  const std::string *site = request.header("sec-fetch-site");
  if (site && *site != "same-origin" && *site != "none")
    return Problem{403, "the request is another site's (Sec-Fetch-Site)"};
  if (access.token.empty() || hasToken(request, access))
    return std::nullopt;
  Problem problem{401, "expected the token of the server: \"Authorization: "
                       "Bearer ...\", or open /?token=..."};
  problem.headers = {{"WWW-Authenticate", "Bearer"}};
  return problem;
}

std::optional<HttpResponse> autopar::server::signIn(const HttpRequest &request,
                                                    const Access &access) {
  if (access.token.empty() || request.method != "GET" || request.path != "/" ||
      !isToken(parameterOf(request, "token"), access.token))
    return std::nullopt;
  return HttpResponse{
      303,
      "",
      "",
      {{"Location", "/"},
       {"Set-Cookie", std::string(cookieName) + access.token +
                          "; Path=/; HttpOnly; SameSite=Strict"}}};
}
