//===- Partitioner.cpp ----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Partitioner.h"

#include "AlikeLayers.h"
#include "EvenOut.h"
#include "FoldedStages.h"
#include "StagingChecks.h"

#include "autopar/Support/Text.h"

#include <algorithm>
#include <numeric>

using namespace autopar;
using namespace autopar::schedule;

using Answer = StageSearch::Answer;

//===----------------------------------------------------------------------===//
// Loads of layers and devices
//===----------------------------------------------------------------------===//

/// Returns the distinct values except 0, sorted, with their counts; empty if
/// there are more of them than `LayerSums` can use.
static std::vector<std::pair<int64_t, int64_t>>
kindsOf(const std::vector<int64_t> &sorted) {
  constexpr size_t mostKinds = 4;
  std::vector<std::pair<int64_t, int64_t>> kinds;
  for (int64_t value : sorted) {
    if (value == 0)
      continue;
    if (kinds.empty() || kinds.back().first != value)
      kinds.emplace_back(value, 0);
    if (kinds.size() > mostKinds)
      return {};
    ++kinds.back().second;
  }
  return kinds;
}

/// Returns sums: `sums[i]` is the sum of the values before index i.
static std::vector<int64_t> prefixSums(const std::vector<int64_t> &values) {
  std::vector<int64_t> sums(values.size() + 1);
  std::partial_sum(values.begin(), values.end(), sums.begin() + 1);
  return sums;
}

static LayerSums sumsOf(const StagingProblem &problem,
                        int64_t LayerCost::*quantity) {
  std::vector<int64_t> values;
  values.reserve(problem.layers.size());
  for (const LayerCost &layer : problem.layers)
    values.push_back(layer.*quantity);
  LayerSums sums;
  sums.sums = prefixSums(values);
  sums.embedding = problem.embedding.*quantity;
  sums.head = problem.head.*quantity;
  if (!std::is_sorted(values.begin(), values.end()))
    std::sort(values.begin(), values.end());
  sums.smallest = prefixSums(values);
  sums.kinds = kindsOf(values);
  return sums;
}

/// Returns the load of each device: the sums of one quantity over the device's
/// ranges.
static std::vector<int64_t> loadsOf(const std::vector<LayerRange> &ranges,
                                    int64_t stages, const LayerSums &sums) {
  std::vector<int64_t> loads(stages);
  loads.front() += sums.embedding;
  loads.back() += sums.head;
  for (size_t i = 0; i < ranges.size(); ++i)
    loads[i % stages] += sums.of(ranges[i].begin, ranges[i].end);
  return loads;
}

//===----------------------------------------------------------------------===//
// Finding a split of layers
//===----------------------------------------------------------------------===//

Partitioner::Partitioner(const StagingProblem &problem)
    : problem(problem), time(sumsOf(problem, &LayerCost::timePs)),
      memory(sumsOf(problem, &LayerCost::memoryBytes)),
      saved(sumsOf(problem, &LayerCost::savedBytes)),
      search(time, memory, saved, problem),
      memoryLimit(std::min(problem.memoryLimitBytes.value_or(mostBytes()),
                           mostBytes())) {}

StagePartition Partitioner::describe(std::vector<LayerRange> ranges) const {
  StagePartition result;
  result.stages = problem.stages;
  result.interleave = problem.interleave;
  std::vector<int64_t> times = loadsOf(ranges, problem.stages, time);
  std::vector<int64_t> bytes = loadsOf(ranges, problem.stages, memory);
  std::vector<int64_t> ofEach = loadsOf(ranges, problem.stages, saved);
  for (int64_t d = 0; d < problem.stages; ++d)
    result.devices.push_back(
        {times[d], bytes[d] + problem.keptOn(d) * ofEach[d]});
  result.ranges = std::move(ranges);
  findHeaviest(result);
  return result;
}

/// Replaces `best` by the split that the search found, after it was evened out.
void Partitioner::takeFound(StagePartition &best, int64_t mostBytes) {
  StagePartition found = describe(search.ranges());
  evenOut(problem, mostBytes, found);
  replace(best, std::move(found.ranges));
}

void Partitioner::replace(StagePartition &best,
                          std::vector<LayerRange> ranges) const {
  Picoseconds bound = best.lowerBoundPs;
  best = describe(std::move(ranges));
  best.lowerBoundPs = bound;
}

static int64_t fullestOf(const StagePartition &partition) {
  int64_t fullest = 0;
  for (const LayerCost &device : partition.devices)
    fullest = std::max(fullest, device.memoryBytes);
  return fullest;
}

/// Returns the smallest possible load of a device that is not below `least`.
int64_t Partitioner::nextLoad(int64_t least) const {
  int64_t next = time.above(least);
  for (int64_t end : {time.embedding, time.head, time.embedding + time.head})
    next = std::min(next, end + time.above(std::max<int64_t>(0, least - end)));
  return next;
}

/// Lowers `best` and raises its lower bound until the two meet, or until the
/// search cannot decide.
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

/// Finds a split within `timeLimit` whose fullest device holds fewer bytes than
/// that of `best`.
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

/// Finds the split of a folded problem. It starts from the split with even
/// stages.
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

/// Returns a split within the memory limit, whatever its time is; if none was
/// found, the split whose fullest device holds the fewest bytes. `answer` tells
/// whether such a split exists.
StagePartition Partitioner::findFitting(Answer answer) {
  bool fits = answer == Answer::yes;
  // Without a limit on the memory there is always a split.
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
  replace(best, evenRounds(problem, fullestOf(best), best));
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

/// Finds a split within the memory limit; returns nothing if none was found.
std::optional<StagePartition> Partitioner::runWithin() {
  if (problem.folded) {
    Result<StagePartition> best = runFolded();
    return best ? std::optional(std::move(*best)) : std::nullopt;
  }
  // There is often a proof that no split exists, which is cheaper to find than
  // a split.
  Answer answer = fit(time.all(), memoryLimit);
  if (answer == Answer::no)
    return std::nullopt;
  StagePartition best = findFitting(answer);
  if (isOverLimit(best))
    return std::nullopt;
  return improve(std::move(best));
}

//===----------------------------------------------------------------------===//
// Errors if no split fits in memory
//===----------------------------------------------------------------------===//

bool Partitioner::isOverLimit(const StagePartition &partition) const {
  return problem.memoryLimitBytes &&
         fullestOf(partition) > *problem.memoryLimitBytes;
}

/// Returns a text with the smallest larger number of stages that meets the
/// memory limit; "" if none does.
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

std::optional<Error>
autopar::schedule::exceedsMemory(const StagingProblem &problem,
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
