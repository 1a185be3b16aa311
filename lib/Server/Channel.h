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

/// A kind, and texts, as bytes.
struct Message {
  enum class Kind : char { request = 'Q', progress = 'P', response = 'R' };
  Kind kind;
  std::vector<std::string> texts;
};

/// The first message of `bytes`, which is cut off them; nothing where it is not
/// all there.
std::optional<Message> readMessage(std::string &bytes);

// Bodies are copied once.
std::string write(const HttpRequest &request);
/// `isLast`: who sends it ends then.
std::string write(const HttpResponse &response, bool isLast);
std::string writeProgress(std::string_view what, size_t done, size_t all);

HttpRequest requestOf(Message message);
HttpResponse responseOf(Message message);
bool isLast(const Message &message);

} // namespace autopar::server

#endif // AUTOPAR_LIB_SERVER_CHANNEL_H
