//===- Channel.h - Messages between a server and its workers ----*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_SERVER_CHANNEL_H
#define AUTOPAR_LIB_SERVER_CHANNEL_H

#include "autopar/Server/Http.h"

#include <optional>

namespace autopar::server {

/// A message between server and worker: its kind, and texts as bytes.
struct Message {
  enum class Kind : char { request = 'Q', progress = 'P', response = 'R' };
  Kind kind;
  std::vector<std::string> texts;
};

/// Returns the first message of `bytes` and removes it from them; returns
/// nothing if a part of the message is still missing.
std::optional<Message> readMessage(std::string &bytes);

// Returns the bytes of a request. Its body is copied only once.
std::string write(const HttpRequest &request);
/// Returns the bytes of a response; `isLast` says that its sender ends after
/// it.
std::string write(const HttpResponse &response, bool isLast);
std::string writeProgress(std::string_view what, size_t done, size_t all);

HttpRequest requestOf(Message message);
HttpResponse responseOf(Message message);
bool isLast(const Message &message);

} // namespace autopar::server

#endif // AUTOPAR_LIB_SERVER_CHANNEL_H
