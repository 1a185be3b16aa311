//===- HttpFuzzer.cpp -----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The input is what a client sends. Read at once and byte by byte it must be
// the same requests, or be refused alike.

#include "autopar/Server/Guard.h"
#include "autopar/Server/RequestReader.h"
#include "autopar/Server/Routes.h"

#include <cstdlib>

using namespace autopar::server;

/// All that is in `input`, as text, of which `step` bytes come at once.
static std::string readAll(std::string_view input, size_t step) {
  ServerLimits limits;
  limits.headBytes = 1024;
  limits.bodyBytes = 1024;
  RequestReader reader(limits);
  Access access{true, 80, "127.0.0.1", "0123456789abcdef"};
  std::string text;
  auto takeAll = [&] {
    while (reader.state() == RequestReader::State::complete) {
      HttpRequest request = reader.take();
      bool isKnown = std::holds_alternative<FoundRoute>(routeOf(request));
      bool isWelcome = !guard(request, access) || signIn(request, access);
      text += request.method + " " + request.path + " " + request.body +
              (isKnown ? "!" : "?") + (isWelcome ? "+" : "-");
      reader.add("");
    }
  };
  for (; !input.empty(); input.remove_prefix(std::min(step, input.size()))) {
    reader.add(input.substr(0, step));
    takeAll();
    if (reader.state() == RequestReader::State::refused)
      return text + reader.refusal().response().body;
  }
  return text;
}

extern "C" int LLVMFuzzerTestOneInput(const char *data, size_t size) {
  std::string_view input(data, size);
  if (readAll(input, input.size() + 1) != readAll(input, 1))
    std::abort();
  return 0;
}
