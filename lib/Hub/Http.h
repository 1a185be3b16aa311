//===- Http.h - Downloads within limits -------------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_HUB_HTTP_H
#define AUTOPAR_LIB_HUB_HTTP_H

#include "Curl.h"

#include "autopar/Hub/Hub.h"

#include <chrono>
#include <cstdint>
#include <memory>

namespace autopar::hub {

using Milliseconds = std::chrono::milliseconds;

/// The server, the credentials, and the time limits.
struct HttpSettings {
  /// "https://huggingface.co", without a trailing slash.
  std::string endpoint;
  /// Sent to the endpoint's own host only; may be empty.
  std::string token;
  /// Certificates that are trusted instead of the system's; may be empty.
  std::string certificates;
  /// Bound on one `get`: its redirects, its retries and its waits.
  Milliseconds total{};
  ProgressCallback progress;
};

struct HttpRequest {
  std::string url;
  /// Larger answers are refused.
  uint64_t maxBytes = 0;
  /// "0-7"; empty: all.
  std::string range;
};

struct HttpAnswer {
  /// 2xx, or a 4xx that asking again does not change.
  long status = 0;
  std::string body;
  /// The headers X-Repo-Commit and Content-Range, where there were any.
  std::string commit, contentRange;
};

/// Gets files over https. Follows at most five redirects, to https only.
/// Temporary failures (429, 5xx, dropped connections) are tried three times.
class HttpClient {
public:
  static Result<HttpClient> open(HttpSettings settings);

  Result<HttpAnswer> get(const HttpRequest &request);
  /// The first bytes of `text` as they may be shown: escaped, and without the
  /// token.
  std::string excerpt(std::string text) const;
  const HttpSettings &settings() const { return config; }

private:
  struct Transfer;
  struct Closer {
    decltype(&curl_easy_cleanup) cleanup;
    void operator()(CURL *handle) const { cleanup(handle); }
  };

  HttpClient(const CurlApi &curl, HttpSettings settings);
  Result<std::string> originOf(const std::string &url) const;
  Transfer follow(const HttpRequest &request, Milliseconds left);
  Transfer perform(const std::string &url, const HttpRequest &request,
                   bool withToken, Milliseconds left);
  void configure(Transfer &transfer, Milliseconds left);
  void conclude(Transfer &transfer, CURLcode code, const char *reason);
  std::optional<Error> wait(Transfer &transfer, unsigned attempt,
                            Milliseconds left) const;

  const CurlApi *curl;
  HttpSettings config;
  std::string endpointOrigin;
  std::unique_ptr<void, Closer> handle;
};

} // namespace autopar::hub

#endif // AUTOPAR_LIB_HUB_HTTP_H
