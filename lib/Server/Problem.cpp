//===- Problem.cpp --------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Server/Problem.h"

#include <nlohmann/json.hpp>

#include <charconv>

using namespace autopar;
using namespace autopar::server;

nlohmann::json Problem::json() const {
  nlohmann::json document = {{"type", "about:blank"},
                             {"title", std::string(reasonOf(status))},
                             {"status", status},
                             {"detail", detail}};
  for (const Part &part : errors) {
    nlohmann::json one = {{"pointer", part.pointer}, {"detail", part.detail}};
    if (!part.note.empty())
      one["note"] = part.note;
    if (part.line)
      one.update({{"line", part.line}, {"column", part.column}});
    document["errors"].push_back(std::move(one));
  }
  return document;
}

HttpResponse Problem::response() const {
  using nlohmann::json;
  return {status, "application/problem+json",
          this->json().dump(-1, ' ', false, json::error_handler_t::replace),
          headers};
}

/// Reads a place such as ":3:14" from the end of `text` and removes it from
/// there, if `text` ends with one.
static void takePlace(std::string &text, int &line, int &column) {
  int numbers[2] = {0, 0};
  std::string rest = text;
  for (int i = 1; i >= 0; --i) {
    size_t colon = rest.rfind(':');
    if (colon == rest.npos)
      return;
    const char *end = rest.data() + rest.size();
    auto [read, error] =
        std::from_chars(rest.data() + colon + 1, end, numbers[i]);
    if (error != std::errc() || read != end)
      return;
    rest.resize(colon);
  }
  text = rest;
  line = numbers[0];
  column = numbers[1];
}

Problem autopar::server::problemOf(const Error &error) {
  if (error.where == pathName)
    return {404, error.message};
  Problem::Part part{"", error.message, error.note};
  std::string place = error.where;
  takePlace(place, part.line, part.column);
  size_t colon = place.find(": ");
  std::string name = place.substr(0, colon);
  if (colon != place.npos)
    part.pointer = place.substr(colon + 2);
  if (name == "config" || name == "module")
    part.pointer = "/" + name + part.pointer;
  else if (name != bodyName && !place.empty())
    part.detail = place + " " + part.detail;
  return {422, part.detail, {part}};
}

Problem autopar::server::malformed(const Error &error) {
  Problem::Part part{"", error.message, error.note};
  std::string place = error.where;
  takePlace(place, part.line, part.column);
  return {400, "the body is no JSON: " + error.message, {std::move(part)}};
}
