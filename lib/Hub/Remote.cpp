//===- Remote.cpp ---------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Remote.h"

#include "Environment.h"

#include "autopar/Support/Json.h"
#include "autopar/Support/Limits.h"

using namespace autopar;
using namespace autopar::hub;

Result<Remote> Remote::open(Repository repository, const HubOptions &options) {
  Result<HttpSettings> settings = readHttpSettings();
  if (!settings)
    return settings.error();
  settings->progress = options.progress;
  Result<HttpClient> client = HttpClient::open(std::move(*settings));
  if (!client)
    return client.error();
  return Remote(std::move(*client), std::move(repository));
}

std::string Remote::page() const {
  return client.settings().endpoint + "/" + repository.id();
}

std::string Remote::addressOf(const std::string &file) const {
  return client.settings().endpoint + repository.addressOf(file);
}

Error Remote::missing() const {
  return Error{"",
               "the hub has no model " + repository.id() +
                   " with a config.json at revision \"" + repository.revision +
                   "\" (HTTP 404)",
               "check the name and the revision at " + page()};
}

Error Remote::denied(const std::string &file, long status) const {
  Error error{addressOf(file),
              "access denied (HTTP " + std::to_string(status) + ")", ""};
  if (client.settings().token.empty())
    error.note = "check the name; a model that is gated or private needs "
                 "HF_TOKEN, of an account that has accepted the licence at " +
                 page();
  else
    error.note = "the token may not read it: accept the licence at " + page() +
                 ", or set HF_TOKEN to another";
  return error;
}

Result<std::optional<HttpAnswer>> Remote::get(const std::string &file,
                                              uint64_t maxBytes,
                                              const std::string &range) {
  Result<HttpAnswer> answer = client.get({addressOf(file), maxBytes, range});
  if (!answer)
    return answer.error();
  long status = answer->status;
  if (status == 404)
    return std::optional<HttpAnswer>();
  if (status == 401 || status == 403)
    return denied(file, status);
  if (status >= 300)
    return Error{addressOf(file),
                 "the server answers HTTP " + std::to_string(status), ""};
  return std::optional<HttpAnswer>(std::move(*answer));
}

Result<std::optional<HttpAnswer>> Remote::getJson(const std::string &file) {
  Result<std::optional<HttpAnswer>> answer = get(file, limits::maxConfigBytes);
  if (!answer || !*answer)
    return answer;
  const std::string &body = (*answer)->body;
  Result<JsonDocument> document = JsonDocument::parse(body, addressOf(file));
  if (document && document->reader().isObject())
    return answer;
  return Error{
      addressOf(file),
      "the answer is not a JSON object, but begins \"" + client.excerpt(body) +
          "\"",
      "a proxy or a sign-in page may have answered instead of the hub"};
}

Result<std::optional<HttpAnswer>> Remote::getConfig() {
  const std::string file = "config.json";
  Result<std::optional<HttpAnswer>> answer = getJson(file);
  if (!answer || !*answer)
    return answer;
  const std::string &body = (*answer)->body;
  Result<JsonDocument> document = JsonDocument::parse(body, addressOf(file));
  if (document && (document->reader().has("model_type") ||
                   document->reader().has("architectures")))
    return answer;
  return Error{addressOf(file),
               "the answer has neither \"model_type\" nor \"architectures\", "
               "but begins \"" +
                   client.excerpt(body) + "\"",
               "it is not kept; the hub may have trouble, or this is no model"};
}
