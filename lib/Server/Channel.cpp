//===- Channel.cpp --------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Channel.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>

using namespace autopar::server;

static void append(std::string &bytes, uint32_t number) {
  char raw[sizeof(number)];
  std::memcpy(raw, &number, sizeof(number));
  bytes.append(raw, sizeof(number));
}

static uint32_t numberAt(const std::string &bytes, size_t at) {
  uint32_t number;
  std::memcpy(&number, bytes.data() + at, sizeof(number));
  return number;
}

std::string autopar::server::write(const Message &message) {
  std::string inner;
  for (const std::string &text : message.texts) {
    append(inner, static_cast<uint32_t>(text.size()));
    inner += text;
  }
  std::string bytes(1, static_cast<char>(message.kind));
  append(bytes, static_cast<uint32_t>(inner.size()));
  return bytes + inner;
}

std::optional<Message> autopar::server::readMessage(std::string &bytes) {
  constexpr size_t width = sizeof(uint32_t), head = 1 + width;
  if (bytes.size() < head || bytes.size() - head < numberAt(bytes, 1))
    return std::nullopt;
  Message message{static_cast<Message::Kind>(bytes[0]), {}};
  size_t end = head + numberAt(bytes, 1);
  for (size_t at = head; at < end;) {
    uint32_t size = numberAt(bytes, at);
    message.texts.push_back(bytes.substr(at + width, size));
    at += width + size;
  }
  bytes.erase(0, end);
  return message;
}

Message autopar::server::messageOf(const HttpRequest &request) {
  return {Message::Kind::request,
          {request.method, request.path, request.query,
           request.wantsEvents() ? "text/event-stream" : "", request.body}};
}

HttpRequest autopar::server::requestOf(const Message &message) {
  const std::vector<std::string> &texts = message.texts;
  return {texts[0],
          texts[1],
          texts[2],
          {{"accept", texts[3]}, {"content-type", "application/json"}},
          texts[4]};
}

Message autopar::server::messageOf(const HttpResponse &response, bool isLast) {
  return {Message::Kind::response,
          {std::to_string(response.status), response.type, response.body,
           isLast ? "last" : ""}};
}

bool autopar::server::isLast(const Message &message) {
  return !message.texts[3].empty();
}

HttpResponse autopar::server::responseOf(const Message &message) {
  return {std::atoi(message.texts[0].c_str()), message.texts[1],
          message.texts[2]};
}
