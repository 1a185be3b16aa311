//===- Launches.cpp -------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Launches.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

using namespace autopar;

static bool merges(KernelKind kind, const Runtime &runtime) {
  switch (kind) {
  case KernelKind::matmul:
  case KernelKind::grouped_matmul:
  case KernelKind::scan:
    return runtime.mergesSharedInput;
  case KernelKind::elementwise:
    return runtime.fusesElementwise;
  case KernelKind::attention:
  case KernelKind::gather:
    return false;
  }
  return false;
}

namespace {

/// The launches of a program: of runs first, then of runs joined by borders.
class LaunchFinder {
public:
  explicit LaunchFinder(const Evaluation &evaluation)
      : evaluation(evaluation), kernels(evaluation.program.kernels) {}

  std::vector<Launch> find();

private:
  using Key = std::tuple<uint32_t, uint32_t, KernelKind, int64_t>;
  static Key keyOf(const Kernel &kernel) {
    return {kernel.layer, kernel.fusionGroup, kernel.kind, kernel.count};
  }
  void findRuns();
  void join(const Border &border);

  const Evaluation &evaluation;
  const std::vector<Kernel> &kernels;
  std::map<Key, size_t> open;
  std::vector<Launch> runs;
  /// By index of the run after the border.
  std::multimap<size_t, Launch> joined;
};

} // namespace

void LaunchFinder::findRuns() {
  for (size_t i = 0; i < kernels.size(); ++i) {
    const Kernel &next = kernels[i];
    if (next.routed || !evaluation.kernels[i].launched)
      continue;
    if (merges(next.kind, evaluation.runtime)) {
      auto [it, isNew] = open.emplace(keyOf(next), runs.size());
      if (!isNew) {
        runs[it->second].members.push_back(i);
        continue;
      }
    }
    runs.push_back({{i}, next.count});
  }
}

/// A run of which nothing is launched joins no other.
void LaunchFinder::join(const Border &border) {
  auto before = open.find(keyOf(kernels[border.before]));
  auto after = open.find(keyOf(kernels[border.after]));
  if (before == open.end() || after == open.end() || border.count == 0)
    return;
  Launch &first = runs[before->second], &second = runs[after->second];
  Launch both{first.members, border.count, &border};
  both.members.insert(both.members.end(), second.members.begin(),
                      second.members.end());
  first.count -= border.count;
  second.count -= border.count;
  joined.emplace(after->second, std::move(both));
}

std::vector<Launch> LaunchFinder::find() {
  findRuns();
  if (evaluation.runtime.fusesElementwise)
    for (const Border &border : evaluation.program.borders)
      join(border);
  std::vector<Launch> launches;
  for (size_t i = 0; i < runs.size(); ++i) {
    if (runs[i].count > 0)
      launches.push_back(std::move(runs[i]));
    auto [begin, end] = joined.equal_range(i);
    for (auto it = begin; it != end; ++it)
      launches.push_back(std::move(it->second));
  }
  return launches;
}

std::vector<Launch> autopar::launchesOf(const Evaluation &evaluation) {
  return LaunchFinder(evaluation).find();
}

std::vector<Checked> Launch::bytes(Evaluation &evaluation) const {
  const std::vector<Kernel> &kernels = evaluation.program.kernels;
  std::vector<Checked> moved;
  std::set<uint32_t> seen;
  for (size_t member : members) {
    bool isAfter = border && areOneRun(kernels[member], kernels[border->after]);
    auto valueOf = [&](const Traffic &traffic) {
      if (isAfter)
        for (auto [value, here] : border->values)
          if (value == traffic.value)
            return here;
      return traffic.value;
    };
    Checked bytes = evaluation.kernels[member].bytes.total;
    for (const Traffic &traffic : kernels[member].traffic)
      if (!traffic.write && seen.count(valueOf(traffic)))
        bytes = bytes - countBytes(traffic, evaluation.sizes);
    for (const Traffic &traffic : kernels[member].traffic)
      if (uint32_t value = valueOf(traffic))
        seen.insert(value);
    moved.push_back(bytes);
  }
  return moved;
}
