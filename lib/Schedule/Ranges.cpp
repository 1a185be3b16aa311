//===- Ranges.cpp ---------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Schedule/Staging.h"

#include "autopar/Support/Limits.h"
#include "autopar/Support/Text.h"

using namespace autopar;
using namespace autopar::schedule;

/// Removes a number of at most 18 digits from the start of `text`. Returns the
/// number; nothing if `text` does not start with one.
static std::optional<int64_t> takeNumber(std::string_view &text) {
  size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  if (digits == 0 || digits > 18)
    return std::nullopt;
  int64_t value = 0;
  for (char c : text.substr(0, digits))
    value = value * 10 + (c - '0');
  text.remove_prefix(digits);
  return value;
}

static constexpr std::string_view embeddingAlone = "embedding",
                                  headAlone = "head";

/// Parses a range of layers, "4-7" or "4". Also parses "embedding" before layer
/// 0, and "head" after layer `next` - 1.
static std::optional<LayerRange> parseRange(std::string_view text,
                                            int64_t next) {
  if (text == (next == 0 ? embeddingAlone : headAlone))
    return LayerRange{next, next};
  std::optional<int64_t> first = takeNumber(text), last = first;
  if (first && !text.empty() && text.front() == '-') {
    text.remove_prefix(1);
    last = takeNumber(text);
  }
  if (!first || !last || !text.empty())
    return std::nullopt;
  return LayerRange{*first, *last + 1};
}

Result<std::vector<LayerRange>>
autopar::schedule::parseRanges(std::string_view text) {
  const char *note = "write the first and the last layer of each stage, as in "
                     "0-19,20-40,41-60";
  std::vector<LayerRange> ranges;
  for (size_t begin = 0; begin <= text.size();) {
    size_t end = std::min(text.find(',', begin), text.size());
    std::string_view part = text.substr(begin, end - begin);
    int64_t next = ranges.empty() ? 0 : ranges.back().end;
    std::optional<LayerRange> range = parseRange(part, next);
    if (!range)
      return Error{"", "'" + shorten(part) + "' is no range of layers", note};
    bool isEnd = ranges.empty() || end == text.size();
    if (range->begin != next)
      return Error{"",
                   "stage " + std::to_string(ranges.size()) +
                       " begins with layer " + std::to_string(range->begin) +
                       ", expected " + std::to_string(next),
                   note};
    if (range->isEmpty() && !isEnd)
      return Error{"",
                   "'" + shorten(part) +
                       "' stands between others: the first stage may have the "
                       "embedding alone, the last one the head",
                   note};
    if (range->end < range->begin)
      return Error{"", "'" + shorten(part) + "' ends before it begins", note};
    ranges.push_back(*range);
    begin = end + 1;
  }
  if (ranges.size() > limits::maxVirtualStages)
    return Error{"",
                 std::to_string(ranges.size()) +
                     " ranges of layers, expected at most " +
                     std::to_string(limits::maxVirtualStages),
                 ""};
  return ranges;
}

std::vector<LayerRange> autopar::schedule::equalRanges(int64_t layers,
                                                       int64_t stages) {
  std::vector<LayerRange> ranges;
  int64_t begin = 0;
  for (int64_t stage = 0; stage < stages; ++stage) {
    int64_t end = begin + layers / stages + (stage < layers % stages ? 1 : 0);
    ranges.push_back({begin, end});
    begin = end;
  }
  return ranges;
}

std::string autopar::schedule::rangeText(const LayerRange &range) {
  if (range.isEmpty())
    return std::string(range.begin == 0 ? embeddingAlone : headAlone);
  std::string first = std::to_string(range.begin);
  bool isOne = range.end - range.begin == 1;
  return isOne ? first : first + "-" + std::to_string(range.end - 1);
}

std::string
autopar::schedule::rangesText(const std::vector<LayerRange> &ranges) {
  std::vector<std::string> parts;
  for (const LayerRange &range : ranges)
    parts.push_back(rangeText(range));
  return join(parts, ",");
}
