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

/// A model on the hub that may be asked for its files.
class Remote {
public:
  static Result<Remote> open(Repository repository, const HubOptions &options);

  /// Gets `file`, or a range of it; nothing if the model has no such file.
  /// Errors say what access needs.
  Result<std::optional<HttpAnswer>> get(const std::string &file,
                                        uint64_t maxBytes,
                                        const std::string &range = "");
  /// The same for a file that must be a JSON object.
  Result<std::optional<HttpAnswer>> getJson(const std::string &file);
  /// Gets config.json, which must be that of a model: some servers report
  /// errors in a JSON object with a success status.
  Result<std::optional<HttpAnswer>> getConfig();
  /// Why there is no config.json.
  Error missing() const;
  std::string addressOf(const std::string &file) const;
  /// The model's page.
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
