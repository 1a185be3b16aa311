//===- Environment.cpp ----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Environment.h"

#include "autopar/Support/File.h"
#include "autopar/Support/Text.h"

#include <algorithm>
#include <cstdlib>
#include <strings.h>

using namespace autopar;
using namespace autopar::hub;

/// Returns the value of the first environment variable that is set and not
/// empty; "" if there is none.
static std::string firstSet(std::initializer_list<const char *> names) {
  for (const char *name : names)
    if (const char *value = std::getenv(name); value && *value)
      return value;
  return "";
}

/// Returns the value of the environment variable `variable` or, if it is not
/// set, the path of `directory` in this user's cache folder.
static std::string cacheOr(const char *variable, const char *directory) {
  std::string value = firstSet({variable});
  if (!value.empty())
    return value;
  std::string caches = firstSet({"XDG_CACHE_HOME"});
  if (caches.empty())
    caches = firstSet({"HOME"}) + "/.cache";
  return caches + "/" + directory;
}

static std::string hubHome() { return cacheOr("HF_HOME", "huggingface"); }

std::string autopar::hub::hubCacheDirectory() {
  std::string value = firstSet({"HF_HUB_CACHE"});
  return value.empty() ? hubHome() + "/hub" : value;
}

std::string autopar::hub::cacheDirectory() {
  return cacheOr("AUTOPAR_CACHE", "autopar");
}

bool autopar::hub::isOffline() {
  std::string value = firstSet({"HF_HUB_OFFLINE"});
  for (const char *yes : {"1", "on", "yes", "true"})
    if (strcasecmp(value.c_str(), yes) == 0)
      return true;
  return false;
}

/// Returns the access token. It is checked, because it becomes part of a
/// header.
static Result<std::string> readToken() {
  std::string origin = "HF_TOKEN", token = firstSet({"HF_TOKEN"});
  if (token.empty()) {
    origin = firstSet({"HF_TOKEN_PATH"});
    if (origin.empty())
      origin = hubHome() + "/token";
    if (!fileExists(origin))
      return std::string();
    Result<std::string> text = readFile(origin);
    if (!text)
      return text.error();
    token = *text;
  }
  token.erase(token.find_last_not_of(" \t\r\n") + 1);
  token.erase(0, token.find_first_not_of(" \t\r\n"));
  constexpr size_t longest = 4096;
  if (token.size() > longest ||
      !std::all_of(token.begin(), token.end(),
                   [](char c) { return c > 0x20 && c < 0x7f; }))
    return Error{origin,
                 "this is no token: it is longer than 4096 characters, "
                 "or has one that a token cannot have",
                 "tokens are made at https://huggingface.co/settings/tokens"};
  return token;
}

static Result<Milliseconds> readTimeout() {
  constexpr double unset = 60, longest = 3600;
  std::string text = firstSet({"AUTOPAR_HTTP_TIMEOUT"});
  if (text.empty())
    return Milliseconds(int64_t(unset * 1000));
  char *end = nullptr;
  double seconds = std::strtod(text.c_str(), &end);
  if (*end || !(seconds >= 0.001 && seconds <= longest))
    return Error{
        "AUTOPAR_HTTP_TIMEOUT",
        "expected seconds, 0.001 to 3600, found \"" + shorten(text) + "\"", ""};
  return Milliseconds(int64_t(seconds * 1000));
}

Result<HttpSettings> autopar::hub::readHttpSettings() {
  HttpSettings settings;
  settings.endpoint = firstSet({"HF_ENDPOINT"});
  if (settings.endpoint.empty())
    settings.endpoint = "https://huggingface.co";
  if (settings.endpoint.find_first_of("?#") != std::string::npos)
    return Error{"HF_ENDPOINT", "not an https:// address of a hub", ""};
  while (!settings.endpoint.empty() && settings.endpoint.back() == '/')
    settings.endpoint.pop_back();
  Result<std::string> token = readToken();
  if (!token)
    return token.error();
  Result<Milliseconds> total = readTimeout();
  if (!total)
    return total.error();
  settings.token = std::move(*token);
  settings.total = *total;
  settings.certificates = firstSet({"CURL_CA_BUNDLE", "SSL_CERT_FILE"});
  return settings;
}
