//===- Remote.h - Files of a model on the hub -------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_HUB_REMOTE_H
#define AUTOPAR_LIB_HUB_REMOTE_H

#include "Http.h"
#include "Repository.h"

namespace autopar::hub {

/// A model on the hub whose files may be requested.
class Remote {
public:
  static Result<Remote> open(Repository repository, const HubOptions &options);

  /// Gets `file`, or a range of its bytes; returns nothing if the model has no
  /// such file. Errors say what is needed for access.
  Result<std::optional<HttpAnswer>> get(const std::string &file,
                                        uint64_t maxBytes,
                                        const std::string &range = "");
  /// Gets `file`, which must be a JSON object; returns nothing if the model has
  /// no such file.
  Result<std::optional<HttpAnswer>> getJson(const std::string &file);
  /// Gets config.json, which must be the config of a model, because some
  /// servers report errors as a JSON object with a success status.
  Result<std::optional<HttpAnswer>> getConfig();
  /// Returns the error that says why there is no config.json.
  Error missing() const;
  std::string addressOf(const std::string &file) const;
  /// Returns the address of the model's page.
  std::string page() const;

private:
  Remote(HttpClient client, Repository repository)
      : client(std::move(client)), repository(std::move(repository)) {}
  Error denied(const std::string &file, long status) const;

  HttpClient client;
  Repository repository;
};

} // namespace autopar::hub

#endif // AUTOPAR_LIB_HUB_REMOTE_H
