//===- RequestReader.cpp --------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Server/RequestReader.h"

#include "autopar/Support/Text.h"

#include <algorithm>
#include <charconv>
#include <utility>

using namespace autopar;
using namespace autopar::server;

bool RequestReader::refuse(int status, std::string detail) {
  now = State::refused;
  alive = false;
  problem = {status, std::move(detail)};
  return false;
}

/// Returns whether `text` has only the characters of a token (RFC 9110, 5.6.2).
static bool isToken(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
           (c >= 'A' && c <= 'Z') ||
           std::string_view("!#$%&'*+-.^_`|~").find(c) !=
               std::string_view::npos;
  });
}

static bool hasControls(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) < ' ' && c != '\t') || c == 127;
  });
}

static std::string lowered(std::string_view text) {
  std::string lower(text);
  for (char &c : lower)
    if (c >= 'A' && c <= 'Z')
      c |= 0x20;
  return lower;
}

bool RequestReader::readFirstLine(std::string_view line) {
  size_t first = line.find(' '), last = line.rfind(' ');
  if (first == line.npos || first == last)
    return refuse(400, "expected a method, a path and HTTP/1.1");
  std::string_view method = line.substr(0, first),
                   target = line.substr(first + 1, last - first - 1),
                   version = line.substr(last + 1);
  if (version != "HTTP/1.1" && version != "HTTP/1.0")
    return refuse(400, "expected HTTP/1.1");
  alive = version == "HTTP/1.1";
  if (target.size() > limits.targetBytes)
    return refuse(414, "the path is longer than " +
                           std::to_string(limits.targetBytes) + " bytes");
  if (!isToken(method) || target.empty() || target[0] != '/' ||
      target.find_first_of(" #") != target.npos)
    return refuse(400, "expected a method and a path that begins with /");
  size_t question = std::min(target.find('?'), target.size());
  if (!decodePercents(target.substr(0, question), request.path) ||
      !isUtf8(request.path) || hasControls(target))
    return refuse(400, "the path is malformed");
  request.method = method;
  if (question < target.size())
    request.query = target.substr(question + 1);
  return true;
}

bool RequestReader::readHeader(std::string_view line) {
  size_t colon = line.find(':');
  if (colon == line.npos || !isToken(line.substr(0, colon)) ||
      hasControls(line))
    return refuse(400, "a header is malformed");
  if (request.headers.size() == limits.headers)
    return refuse(431,
                  "more than " + std::to_string(limits.headers) + " headers");
  std::string_view value = line.substr(colon + 1);
  value.remove_prefix(std::min(value.find_first_not_of(" \t"), value.size()));
  value = value.substr(0, value.find_last_not_of(" \t") + 1);
  request.headers.push_back(
      {lowered(line.substr(0, colon)), std::string(value)});
  return true;
}

bool RequestReader::readLength() {
  for (const char *once : {"host", "content-length", "content-type", "origin",
                           "authorization", "sec-fetch-site"})
    if (std::count_if(request.headers.begin(), request.headers.end(),
                      [&](const Header &one) { return one.name == once; }) > 1)
      return refuse(400, std::string("more than one header ") + once);
  if (!request.header("host"))
    return refuse(400, "expected a header Host");
  if (request.header("transfer-encoding"))
    return refuse(411, "expected Content-Length, not Transfer-Encoding");
  const std::string *given = request.header("content-length");
  if (!given)
    return request.method != "POST" ||
           refuse(411, "expected a body with a Content-Length");
  const char *end = given->data() + given->size();
  auto [read, error] = std::from_chars(given->data(), end, length);
  if (read != end || given->empty() || error == std::errc::invalid_argument)
    return refuse(400, "Content-Length is no number");
  if (error != std::errc() || length > limits.bodyBytes)
    return refuse(413, "the body is larger than " +
                           std::to_string(limits.bodyBytes) + " bytes");
  return true;
}

void RequestReader::readHead() {
  size_t end = buffer.find("\r\n\r\n");
  if ((end == buffer.npos ? buffer.size() : end + 4) > limits.headBytes) {
    refuse(431, "the head of the request is larger than " +
                    std::to_string(limits.headBytes) + " bytes");
    return;
  }
  if (end == buffer.npos)
    return;
  std::string_view rest = std::string_view(buffer).substr(0, end);
  for (bool isFirst = true; isFirst || !rest.empty(); isFirst = false) {
    std::string_view line = rest.substr(0, rest.find("\r\n"));
    if (!(isFirst ? readFirstLine(line) : readHeader(line)))
      return;
    rest.remove_prefix(std::min(rest.size(), line.size() + 2));
  }
  if (!readLength())
    return;
  buffer.erase(0, end + 4);
  if (const std::string *connection = request.header("connection"))
    alive &= lowered(*connection).find("close") == std::string::npos;
  const std::string *expect = request.header("expect");
  expects = expect && lowered(*expect) == "100-continue";
  now = State::body;
}

RequestReader::State RequestReader::add(std::string_view bytes) {
  buffer += bytes;
  if (now == State::head)
    readHead();
  if (now == State::body && buffer.size() >= length) {
    // In most cases no bytes follow the body.
    std::string behind = buffer.substr(length);
    buffer.resize(length);
    request.body = std::exchange(buffer, std::move(behind));
    now = State::complete;
  }
  return now;
}

HttpRequest RequestReader::take() {
  HttpRequest taken = std::move(request);
  request = {};
  length = 0;
  expects = false;
  now = State::head;
  return taken;
}

bool RequestReader::takeExpectation() {
  return now == State::body && std::exchange(expects, false);
}
