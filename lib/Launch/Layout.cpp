//===- Layout.cpp ---------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Launch/Layout.h"

#include "autopar/Support/Limits.h"

#include <cctype>
#include <charconv>
#include <optional>

using namespace autopar;
using namespace autopar::launch;

namespace {

/// Most stages of a layout: above the number of layers of any model.
constexpr size_t maxStages = size_t(limits::maxConfigLayers);

/// Reads a layout from front to back.
class LayoutReader {
public:
  explicit LayoutReader(const std::string &layout) : layout(layout) {}

  Result<std::vector<int64_t>> read() {
    std::vector<int64_t> stages = readGroup(0);
    if (!failure && at < layout.size())
      fail("a ) without its (");
    if (failure)
      return *failure;
    return stages;
  }

private:
  /// The stages up to a `)` or the end: the first one goes on with the stage
  /// before, and the last one is open.
  std::vector<int64_t> readGroup(unsigned depth);
  int64_t readTimes();
  void append(std::vector<int64_t> &stages, const std::vector<int64_t> &group,
              int64_t times);
  void fail(const std::string &message) {
    if (!failure)
      failure = Error{"", "layout: " + message, ""};
  }

  const std::string &layout;
  size_t at = 0;
  std::optional<Error> failure;
};

} // namespace

int64_t LayoutReader::readTimes() {
  if (at >= layout.size() || layout[at] != '*')
    return 1;
  int64_t times = 0;
  const char *begin = layout.data() + ++at;
  auto [rest, error] =
      std::from_chars(begin, layout.data() + layout.size(), times);
  if (error != std::errc() || times < 1 || times > limits::maxConfigLayers) {
    fail("expected a number behind *");
    return 1;
  }
  at += size_t(rest - begin);
  return times;
}

void LayoutReader::append(std::vector<int64_t> &stages,
                          const std::vector<int64_t> &group, int64_t times) {
  for (int64_t i = 0; i < times && !failure; ++i) {
    stages.back() += group.front();
    stages.insert(stages.end(), group.begin() + 1, group.end());
    if (stages.size() > maxStages || stages.back() > limits::maxConfigLayers)
      fail("more stages or layers than " + std::to_string(maxStages));
  }
}

std::vector<int64_t> LayoutReader::readGroup(unsigned depth) {
  std::vector<int64_t> stages = {0};
  if (depth > limits::maxNestingDepth)
    fail("groups are nested too deeply");
  while (!failure && at < layout.size() && layout[at] != ')') {
    char letter = layout[at++];
    std::vector<int64_t> group = {letter == 't' ? 1 : 0};
    if (letter == '|')
      group = {0, 0};
    if (letter == '(') {
      group = readGroup(depth + 1);
      if (at >= layout.size())
        fail("a ( without its )");
      ++at;
    }
    append(stages, group, readTimes());
  }
  return stages;
}

Result<std::vector<int64_t>>
autopar::launch::layersOfLayout(const std::string &layout) {
  return LayoutReader(layout).read();
}

std::string
autopar::launch::layoutOfLayers(const std::vector<int64_t> &layers) {
  std::string layout = "E";
  for (size_t i = 0; i < layers.size(); ++i)
    layout += (i > 0 ? "|t*" : "t*") + std::to_string(layers[i]);
  return layout + "L";
}
