//===- Http.cpp -----------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Server/Http.h"

#include <algorithm>
#include <utility>

using namespace autopar::server;

const std::string *HttpRequest::header(std::string_view name) const {
  for (const Header &header : headers)
    if (header.name == name)
      return &header.value;
  return nullptr;
}

bool HttpRequest::wantsEvents() const {
  const std::string *accept = header("accept");
  return accept && accept->find("text/event-stream") != accept->npos;
}

std::string_view autopar::server::reasonOf(int status) {
  static constexpr std::pair<int, std::string_view> reasons[] = {
      {100, "Continue"},
      {200, "OK"},
      {303, "See Other"},
      {400, "Bad Request"},
      {401, "Unauthorized"},
      {403, "Forbidden"},
      {404, "Not Found"},
      {405, "Method Not Allowed"},
      {408, "Request Timeout"},
      {411, "Length Required"},
      {413, "Content Too Large"},
      {414, "URI Too Long"},
      {415, "Unsupported Media Type"},
      {422, "Unprocessable Content"},
      {429, "Too Many Requests"},
      {431, "Request Header Fields Too Large"},
      {500, "Internal Server Error"},
      {503, "Service Unavailable"}};
  for (auto [known, reason] : reasons)
    if (known == status)
      return reason;
  return "Unknown";
}

static int hexDigit(char c) {
  if (c >= '0' && c <= '9')
    return c - '0';
  c |= 0x20;
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool autopar::server::decodePercents(std::string_view text,
                                     std::string &decoded) {
  decoded.clear();
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '%') {
      int high = i + 2 < text.size() ? hexDigit(text[i + 1]) : -1;
      int low = i + 2 < text.size() ? hexDigit(text[i + 2]) : -1;
      if (high < 0 || low < 0)
        return false;
      c = static_cast<char>(high * 16 + low);
      i += 2;
    }
    if (static_cast<unsigned char>(c) < ' ' || c == 127)
      return false;
    decoded += c;
  }
  return true;
}

std::string autopar::server::parameterOf(const HttpRequest &request,
                                         std::string_view name) {
  std::string_view rest = request.query;
  while (!rest.empty()) {
    std::string_view pair = rest.substr(0, rest.find('&'));
    rest.remove_prefix(std::min(rest.size(), pair.size() + 1));
    size_t equals = pair.find('=');
    std::string value;
    if (equals != pair.npos && pair.substr(0, equals) == name)
      return decodePercents(pair.substr(equals + 1), value) ? value : "";
  }
  return "";
}

/// The content security policy of responses that are no pages: they load
/// nothing and cannot be embedded.
static constexpr std::string_view dataPolicy =
    "default-src 'none'; frame-ancestors 'none'";

std::string autopar::server::headOf(const HttpResponse &response,
                                    bool keepsAlive, bool hasLength) {
  std::string head = "HTTP/1.1 " + std::to_string(response.status) + " " +
                     std::string(reasonOf(response.status)) + "\r\n";
  auto add = [&](std::string_view name, std::string_view value) {
    head.append(name).append(": ").append(value).append("\r\n");
  };
  if (!response.type.empty())
    add("Content-Type", response.type);
  if (hasLength)
    add("Content-Length", std::to_string(response.body.size()));
  add("Content-Security-Policy",
      response.policy.empty() ? dataPolicy : std::string_view(response.policy));
  add("X-Content-Type-Options", "nosniff");
  add("Cross-Origin-Resource-Policy", "same-origin");
  add("Cross-Origin-Opener-Policy", "same-origin");
  add("Referrer-Policy", "no-referrer");
  add("Cache-Control", "no-store");
  for (const Header &header : response.headers)
    add(header.name, header.value);
  add("Connection", keepsAlive ? "keep-alive" : "close");
  return head + "\r\n";
}
