//===- Events.cpp ---------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Events.h"

#include <nlohmann/json.hpp>

using namespace autopar::server;

static std::string event(std::string_view kind, std::string_view text) {
  std::string lines = "event: " + std::string(kind) + "\n";
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    lines.append("data: ").append(line).append("\n");
  }
  return lines + "\n";
}

std::string
autopar::server::progressEvent(const std::vector<std::string> &texts) {
  nlohmann::json data = {{"what", texts[0]},
                         {"done", std::stoull(texts[1])},
                         {"all", std::stoull(texts[2])}};
  return event("progress", data.dump());
}

std::string autopar::server::resultEvent(const HttpResponse &response) {
  return event(response.status == 200 ? "result" : "problem", response.body);
}

Problem autopar::server::busy(std::string why) {
  Problem problem{429, std::move(why)};
  problem.headers = {{"Retry-After", "1"}};
  return problem;
}
