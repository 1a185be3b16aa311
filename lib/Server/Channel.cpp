//===- Channel.cpp --------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Channel.h"

#include <charconv>
#include <cstdint>
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

static std::string write(Message::Kind kind,
                         std::initializer_list<std::string_view> texts) {
  size_t size = 0;
  for (std::string_view text : texts)
    size += sizeof(uint32_t) + text.size();
  std::string bytes;
  bytes.reserve(1 + sizeof(uint32_t) + size);
  bytes += static_cast<char>(kind);
  append(bytes, static_cast<uint32_t>(size));
  for (std::string_view text : texts) {
    append(bytes, static_cast<uint32_t>(text.size()));
    bytes += text;
  }
  return bytes;
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

std::string autopar::server::write(const HttpRequest &request) {
  return ::write(Message::Kind::request,
                 {request.method, request.path, request.query,
                  request.wantsEvents() ? "text/event-stream" : "",
                  request.body});
}

std::string autopar::server::write(const HttpResponse &response, bool isLast) {
  return ::write(Message::Kind::response,
                 {std::to_string(response.status), response.type, response.body,
                  isLast ? "last" : ""});
}

std::string autopar::server::writeProgress(std::string_view what, size_t done,
                                           size_t all) {
  return ::write(Message::Kind::progress,
                 {what, std::to_string(done), std::to_string(all)});
}

HttpRequest autopar::server::requestOf(Message message) {
  std::vector<std::string> &texts = message.texts;
  return {texts[0],
          texts[1],
          texts[2],
          {{"accept", texts[3]}, {"content-type", "application/json"}},
          std::move(texts[4])};
}

HttpResponse autopar::server::responseOf(Message message) {
  int status = 500;
  const std::string &text = message.texts[0];
  std::from_chars(text.data(), text.data() + text.size(), status);
  return {status, message.texts[1], std::move(message.texts[2])};
}

bool autopar::server::isLast(const Message &message) {
  return !message.texts[3].empty();
}
