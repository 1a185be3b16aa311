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

std::string write(const Message &message);
/// The first message of `bytes`, which is cut off them; nothing where it is not
/// all there.
std::optional<Message> readMessage(std::string &bytes);

Message messageOf(const HttpRequest &request);
HttpRequest requestOf(const Message &message);
/// `isLast`: who sends it ends then.
Message messageOf(const HttpResponse &response, bool isLast);
bool isLast(const Message &message);
HttpResponse responseOf(const Message &message);

} // namespace autopar::server

#endif // AUTOPAR_LIB_SERVER_CHANNEL_H
