//===- Partitioner.cpp ----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Partitioner.h"

#include "EvenOut.h"
#include "FoldedStages.h"
#include "StagingChecks.h"

#include "autopar/Support/Text.h"

#include <algorithm>
#include <numeric>

using namespace autopar;

using Answer = StageSearch::Answer;

//===----------------------------------------------------------------------===//
// Loads
//===----------------------------------------------------------------------===//

/// Values of layers, and how often each occurs.
using Kinds = std::vector<std::pair<int64_t, int64_t>>;

/// Rising. Most layers are as the one before.
static Kinds kindsOf(const std::vector<LayerCost> &layers,
                     int64_t LayerCost::*quantity) {
  Kinds runs, kinds;
  for (const LayerCost &layer : layers) {
    if (runs.empty() || runs.back().first != layer.*quantity)
      runs.emplace_back(layer.*quantity, 0);
    ++runs.back().second;
  }
  std::sort(runs.begin(), runs.end());
  for (auto [value, count] : runs) {
    if (kinds.empty() || kinds.back().first != value)
      kinds.emplace_back(value, 0);
    kinds.back().second += count;
  }
  return kinds;
}

/// The kinds that are not 0; none where they are more than `LayerSums` can use.
static Kinds usableKinds(Kinds kinds) {
  constexpr size_t mostKinds = 4;
  if (!kinds.empty() && kinds.front().first == 0)
    kinds.erase(kinds.begin());
  if (kinds.size() > mostKinds)
    kinds.clear();
  return kinds;
}

static LayerSums sumsOf(const StagingProblem &problem,
                        int64_t LayerCost::*quantity) {
  const std::vector<LayerCost> &layers = problem.layers;
  LayerSums sums;
  sums.embedding = problem.embedding.*quantity;
  sums.head = problem.head.*quantity;
  sums.sums.reserve(layers.size() + 1);
  sums.sums.push_back(0);
  for (const LayerCost &layer : layers)
    sums.sums.push_back(sums.sums.back() + layer.*quantity);
  Kinds kinds = kindsOf(layers, quantity);
  sums.smallest.reserve(layers.size() + 1);
  sums.smallest.push_back(0);
  for (auto [value, count] : kinds)
    for (int64_t i = 0; i < count; ++i)
      sums.smallest.push_back(sums.smallest.back() + value);
  sums.kinds = usableKinds(std::move(kinds));
  return sums;
}

//===----------------------------------------------------------------------===//
// Partitioning
//===----------------------------------------------------------------------===//

static std::vector<int64_t> keptBy(const StagingProblem &problem) {
  std::vector<int64_t> kept(problem.stages);
  for (int64_t d = 0; d < problem.stages; ++d)
    kept[d] = problem.keptOn(d);
  return kept;
}

Partitioner::Partitioner(const StagingProblem &problem)
    : problem(problem), time(sumsOf(problem, &LayerCost::timePs)),
      memory(sumsOf(problem, &LayerCost::memoryBytes)),
      saved(sumsOf(problem, &LayerCost::savedBytes)), kept(keptBy(problem)),
      search(time, memory, saved, problem),
      memoryLimit(std::min(problem.memoryLimitBytes.value_or(mostBytes()),
                           mostBytes())) {}

StagePartition Partitioner::describe(std::vector<LayerRange> ranges) const {
  StagePartition result;
  result.stages = problem.stages;
  result.interleave = problem.interleave;
  result.devices = loadsOf(ranges);
  result.ranges = std::move(ranges);
  findHeaviest(result);
  return result;
}

/// By device, the sums over its ranges.
std::vector<LayerCost>
Partitioner::loadsOf(const std::vector<LayerRange> &ranges) const {
  std::vector<LayerCost> loads(problem.stages);
  auto add = [&](int64_t device, int64_t timePs, int64_t bytes,
                 int64_t savedBytes) {
    loads[device].timePs += timePs;
    loads[device].memoryBytes += bytes + kept[device] * savedBytes;
  };
  add(0, time.embedding, memory.embedding, saved.embedding);
  add(problem.stages - 1, time.head, memory.head, saved.head);
  int64_t device = 0;
  for (auto [begin, end] : ranges) {
    add(device, time.of(begin, end), memory.of(begin, end),
        saved.of(begin, end));
    if (++device == problem.stages)
      device = 0;
  }
  return loads;
}

/// Of a result whose devices have their sums, which is the heaviest.
void Partitioner::findHeaviest(StagePartition &result) const {
  const std::vector<LayerCost> &devices = result.devices;
  auto isShorter = [](const LayerCost &a, const LayerCost &b) {
    return a.timePs < b.timePs;
  };
  auto heaviest = std::max_element(devices.begin(), devices.end(), isShorter);
  result.heaviest = heaviest - devices.begin();
  double mean = static_cast<double>(time.all()) / double(problem.stages);
  result.aboveMeanPs = static_cast<double>(heaviest->timePs) - mean;
  Picoseconds next = 0;
  for (auto device = devices.begin(); device != devices.end(); ++device)
    if (device != heaviest)
      next = std::max(next, device->timePs);
  result.aboveSecondPs = devices.size() > 1 ? heaviest->timePs - next : 0;
}

/// Makes what the search found, evened out, the best.
void Partitioner::takeFound(StagePartition &best, int64_t mostBytes) {
  Picoseconds bound = best.lowerBoundPs;
  best = describe(search.ranges());
  best.lowerBoundPs = bound;
  evenOut(problem, mostBytes, best);
  findHeaviest(best);
}

static int64_t fullestOf(const StagePartition &partition) {
  int64_t fullest = 0;
  for (const LayerCost &device : partition.devices)
    fullest = std::max(fullest, device.memoryBytes);
  return fullest;
}

/// The least that a device can have of what is not below `least`.
int64_t Partitioner::nextLoad(int64_t least) const {
  int64_t next = time.above(least);
  for (int64_t end : {time.embedding, time.head, time.embedding + time.head})
    next = std::min(next, end + time.above(std::max<int64_t>(0, least - end)));
  return next;
}

/// Lowers `best` and raises its lower bound until they meet, or until nothing
/// between them can be decided.
void Partitioner::findLeastTime(StagePartition &best) {
  Picoseconds low =
      nextLoad((time.all() + problem.stages - 1) / problem.stages);
  best.lowerBoundPs = low;
  while (low < best.heaviestPs()) {
    Picoseconds middle = low + (best.heaviestPs() - low) / 2;
    Answer answer = fit(middle, memoryLimit);
    if (answer == Answer::yes) {
      takeFound(best, memoryLimit);
      continue;
    }
    low = nextLoad(middle + 1);
    if (answer == Answer::no)
      best.lowerBoundPs = low;
  }
}

/// Of the splits within `timeLimit`, one whose fullest device holds less.
void Partitioner::findLeastMemory(StagePartition &best, Picoseconds timeLimit) {
  int64_t low = (memory.all() + problem.stages - 1) / problem.stages;
  while (low < fullestOf(best)) {
    int64_t middle = low + (fullestOf(best) - low) / 2;
    if (fit(timeLimit, middle) == Answer::yes)
      takeFound(best, middle);
    else
      low = middle + 1;
  }
}

/// From the split whose stages are even.
Result<StagePartition> Partitioner::runFolded() {
  StagingProblem apart = problem;
  apart.folded = false;
  apart.memoryLimitBytes.reset();
  Result<StagePartition> even = Partitioner(apart).run();
  if (!even)
    return even.error();
  int64_t limit = problem.memoryLimitBytes.value_or(INT64_MAX);
  StagePartition best = describeFolded(
      problem, balanceFolded(problem, limit, std::move(even->ranges)));
  if (isOverLimit(best))
    return overLimit(best, "each device holds two stages: more stages, or "
                           "another schedule, hold less");
  best.searched = even->searched;
  return best;
}

/// After `answer` to whether there is one, a split within the memory, whatever
/// its time; where none was found, the one whose fullest device holds the
/// least.
StagePartition Partitioner::findFitting(Answer answer) {
  bool fits = answer == Answer::yes;
  // Without a limit there always is a split.
  if (!fits)
    fit(time.all(), mostBytes());
  StagePartition best;
  takeFound(best, fits ? memoryLimit : mostBytes());
  if (!fits)
    findLeastMemory(best, time.all());
  return best;
}

StagePartition Partitioner::improve(StagePartition best) {
  findLeastTime(best);
  findLeastMemory(best, best.heaviestPs());
  if (problem.interleave > 1) {
    best.ranges = evenRounds(problem, fullestOf(best), best);
    best.devices = loadsOf(best.ranges);
    findHeaviest(best);
  }
  best.searched = searched();
  return best;
}

Result<StagePartition> Partitioner::run() {
  if (problem.folded)
    return runFolded();
  StagePartition best = findFitting(fit(time.all(), memoryLimit));
  if (isOverLimit(best))
    return overLimit(best, whatWouldDo());
  return improve(std::move(best));
}

/// Nothing where no split within the memory was found.
std::optional<StagePartition> Partitioner::runWithin() {
  if (problem.folded) {
    Result<StagePartition> best = runFolded();
    return best ? std::optional(std::move(*best)) : std::nullopt;
  }
  // Mostly there is a proof, which is had for less than a split.
  Answer answer = fit(time.all(), memoryLimit);
  if (answer == Answer::no)
    return std::nullopt;
  StagePartition best = findFitting(answer);
  if (isOverLimit(best))
    return std::nullopt;
  return improve(std::move(best));
}

//===----------------------------------------------------------------------===//
// Memory that is not enough
//===----------------------------------------------------------------------===//

bool Partitioner::isOverLimit(const StagePartition &partition) const {
  return problem.memoryLimitBytes &&
         fullestOf(partition) > *problem.memoryLimitBytes;
}

/// The fewest stages, more than the problem's, that meet the memory limit;
/// "" where none do.
std::string Partitioner::enoughStages(int64_t interleave) const {
  constexpr int64_t budget = 10'000, attempts = 64;
  int64_t first = std::max(problem.stages + 1,
                           memory.all() / std::max<int64_t>(memoryLimit, 1));
  int64_t last =
      std::min<int64_t>(problem.layers.size(), limits::maxVirtualStages) /
      interleave;
  if (interleave > 1)
    last = std::min(last, first + attempts);
  for (int64_t p = first; p <= last; ++p) {
    StagingProblem shape;
    shape.stages = p;
    shape.interleave = interleave;
    shape.inFlight = problem.inFlight;
    StageSearch more(time, memory, saved, shape);
    if (more.fit(time.all(), memoryLimit, budget) == Answer::yes)
      return shapeText(p, interleave) + " would do";
  }
  return "";
}

std::string Partitioner::whatWouldDo() const {
  std::string note = enoughStages(problem.interleave);
  if (note.empty() && problem.interleave > 1)
    note = enoughStages(1);
  if (!note.empty())
    return note;
  return "no number of stages was found that would do: split the layers "
         "themselves, for example with a larger tensor-parallel degree";
}

Error Partitioner::overLimit(const StagePartition &partition,
                             std::string note) const {
  Error error = *exceedsMemory(problem, partition);
  error.note = std::move(note);
  return error;
}

std::optional<Error> autopar::exceedsMemory(const StagingProblem &problem,
                                            const StagePartition &partition) {
  int64_t fullestBytes = fullestOf(partition);
  int64_t limitBytes = problem.memoryLimitBytes.value_or(fullestBytes);
  if (fullestBytes <= limitBytes)
    return std::nullopt;
  return Error{"",
               shapeText(problem.stages, problem.interleave) +
                   ": the fullest device needs " + formatBytes(fullestBytes) +
                   ", " + formatBytes(fullestBytes - limitBytes) +
                   " over the limit of " + formatBytes(limitBytes),
               ""};
}
