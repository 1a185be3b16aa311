//===- CalibrationFile.cpp ------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Hardware/Hardware.h"
#include "autopar/Support/Library.h"

#include <cfloat>

using namespace autopar;
using namespace autopar::hardware;

Result<std::vector<Override>>
autopar::hardware::readCalibration(const std::string &path) {
  Result<JsonDocument> document = JsonDocument::readFile(path);
  if (!document)
    return document.error();
  JsonReader reader = document->reader();
  checkSchema(reader, "autopar.calibration/1");
  std::vector<Override> overrides;
  for (const JsonReader &one : reader.array("parameters").elements()) {
    Override override{one.string("path"),
                      one.number("value", -DBL_MAX, DBL_MAX)};
    if (override.value != one.number("before", -DBL_MAX, DBL_MAX))
      overrides.push_back(std::move(override));
  }
  if (reader.failed())
    return reader.takeError();
  return overrides;
}
