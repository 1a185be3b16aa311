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

/// Reads ":3:14" at the end of `text` and cuts it off.
static bool takePlace(std::string &text, int &line, int &column) {
  int numbers[2] = {0, 0};
  std::string rest = text;
  for (int i = 1; i >= 0; --i) {
    size_t colon = rest.rfind(':');
    if (colon == rest.npos)
      return false;
    const char *end = rest.data() + rest.size();
    auto [read, error] =
        std::from_chars(rest.data() + colon + 1, end, numbers[i]);
    if (error != std::errc() || read != end)
      return false;
    rest.resize(colon);
  }
  text = rest;
  line = numbers[0];
  column = numbers[1];
  return true;
}

Problem autopar::server::problemOf(const Error &error) {
  Problem::Part part{"", error.message, error.note};
  if (error.where == pathName)
    return {404, error.message, {}};
  std::string place = error.where;
  bool hasLine = takePlace(place, part.line, part.column);
  size_t colon = place.find(": ");
  std::string name = place.substr(0, colon);
  if (colon != place.npos)
    part.pointer = place.substr(colon + 2);
  bool isOfBody = name == bodyName;
  if (name == "config" || name == "module")
    part.pointer = "/" + name + part.pointer;
  else if (!isOfBody && !place.empty())
    part.detail = place + " " + part.detail;
  bool isMalformed = isOfBody && (hasLine || colon == place.npos);
  std::string detail =
      isMalformed ? "the body is no JSON: " + error.message : part.detail;
  return {isMalformed ? 400 : 422, std::move(detail), {std::move(part)}};
}
