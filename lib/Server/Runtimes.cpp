//===- Runtimes.cpp - Paths of runtimes -----------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ApiState.h"

#include "autopar/Runtime/Runtime.h"

#include <nlohmann/json.hpp>

using namespace autopar;
using namespace autopar::runtime;
using namespace autopar::session;
using namespace autopar::server;
using Json = nlohmann::ordered_json;

Answer autopar::server::listRuntimes(Session &session, const Call &call) {
  Json runtimes = Json::array();
  std::vector<bool> used;
  for (const std::string &name : runtimeNames()) {
    Result<Runtime> runtime = readRuntime(name, {}, used);
    if (!runtime)
      return runtime.error();
    runtimes.push_back({{"id", name}, {"title", runtime->title}});
  }
  return Json{{"runtimes", runtimes}}.dump();
}
