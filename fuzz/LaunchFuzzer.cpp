//===- LaunchFuzzer.cpp ---------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The input is a launch script, a manifest or a log. A plan that is read must
// be one that its own text gives back.

#include "autopar/Launch/Log.h"
#include "autopar/Launch/WriteLaunch.h"

#include <cstdlib>

using namespace autopar;
using namespace autopar::launch;

static const std::vector<LaunchTable> &tables() {
  static const Result<std::vector<LaunchTable>> loaded = loadLaunchTables();
  if (!loaded)
    std::abort();
  return *loaded;
}

extern "C" int LLVMFuzzerTestOneInput(const char *data, size_t size) {
  std::string text(data, size);
  ReadOptions options;
  Result<std::vector<Launch>> launches =
      readLaunches(tables(), text, "launch", options);
  if (launches) {
    (void)readingText(*launches);
    for (const Launch &launch : *launches) {
      std::string plan = plan::writePlan(launch.plan);
      Result<JsonDocument> document = JsonDocument::parse(plan, "plan");
      Result<plan::Plan> again =
          document ? plan::readPlan(*document) : document.error();
      if (!again || plan::writePlan(*again) != plan)
        std::abort();
    }
  }
  if (launches)
    return 0;
  if (Result<LogReading> reading = readLog(tables(), text, "log", options))
    (void)writeWhy(*reading);
  return 0;
}
