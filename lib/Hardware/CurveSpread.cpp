//===- CurveSpread.cpp - Spread of the efficiencies of measured chips -----===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Readers.h"

#include "autopar/Support/File.h"

using namespace autopar;
using namespace autopar::hardware;

/// Returns whether a curve of the chip was borrowed from another chip.
static bool borrows(const Chip &chip) {
  for (const auto &[kind, curves] : chip.kernels)
    for (const auto &[key, curve] : curves)
      if (!key.empty() && curve.source.kind == "derived")
        return true;
  return false;
}

/// Reads a range of values. Returns the largest value divided by the smallest.
static double readRatio(const JsonReader &reader, std::string_view key) {
  JsonReader range = reader.object(key);
  range.allowOnly({"least", "most"});
  double least =
      range.number("least", units::fraction.min, units::fraction.max);
  return range.number("most", least, units::fraction.max) / least;
}

Result<std::map<std::string, CurveSpread>>
autopar::hardware::readSpreads(const Chip &chip, const std::string &directory) {
  std::map<std::string, CurveSpread> spreads;
  std::string file = directory + "/spreads.json";
  if (!borrows(chip) || !fileExists(file))
    return spreads;
  Result<JsonDocument> document = JsonDocument::readFile(file);
  if (!document)
    return document.error();
  JsonReader reader = document->reader();
  checkSchema(reader, "autopar.spreads/1");
  reader.allowOnly({"schema", "title", "spreads"});
  for (const auto &[use, spread] : reader.object("spreads").members())
    spreads[use] = {readRatio(spread, "compute_efficiency"),
                    readRatio(spread, "memory_efficiency")};
  if (reader.failed())
    return reader.takeError();
  return spreads;
}
