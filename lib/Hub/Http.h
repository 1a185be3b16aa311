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
  /// The address of the server, such as "https://huggingface.co", without a
  /// trailing slash.
  std::string endpoint;
  /// The access token, which is sent only to the endpoint's own host; may be
  /// empty.
  std::string token;
  /// The file of certificates that are trusted instead of the system's; may be
  /// empty.
  std::string certificates;
  /// The longest time of one `get`, including redirects, retries and waits.
  Milliseconds total{};
  ProgressCallback progress;
};

struct HttpRequest {
  std::string url;
  /// The largest size of an answer; larger answers are refused.
  uint64_t maxBytes = 0;
  /// The range of bytes to request, such as "0-7"; empty for all bytes.
  std::string range;
};

struct HttpAnswer {
  /// The status of the answer: 2xx, or a 4xx that would not change if the
  /// request were repeated.
  long status = 0;
  std::string body;
  /// The values of the headers X-Repo-Commit and Content-Range; empty if there
  /// were none.
  std::string commit, contentRange;
};

/// Gets files over https. It follows at most five redirects, and only to https.
/// After temporary failures (429, 5xx, dropped connections) it tries again,
/// three times in all.
class HttpClient {
public:
  static Result<HttpClient> open(HttpSettings settings);

  Result<HttpAnswer> get(const HttpRequest &request);
  /// Returns the beginning of `text` as it may be shown: escaped, and without
  /// the token.
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
