//===- StagingTest.cpp ----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Schedule/Staging.h"
#include "autopar/Support/Limits.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <random>

using namespace autopar;
using namespace autopar::schedule;

namespace {

using Ranges = std::vector<LayerRange>;

constexpr int64_t gib = int64_t(1) << 30;

StagingProblem problemOf(const std::vector<int64_t> &timesPs, int64_t stages,
                         int64_t interleave = 1) {
  StagingProblem problem;
  for (int64_t time : timesPs)
    problem.layers.push_back({time, 1});
  problem.stages = stages;
  problem.interleave = interleave;
  return problem;
}

std::string textOf(const Ranges &ranges) {
  std::string text;
  for (const LayerRange &range : ranges)
    text += (text.empty() ? "" : " ") + std::to_string(range.begin) + "-" +
            std::to_string(range.end - 1);
  return text;
}

std::string errorOf(const StagingProblem &problem) {
  Result<StagePartition> partition = partitionStages(problem);
  return partition ? "" : partition.error().str();
}

/// The ranges are a split, and what is said about them is true.
void expectConsistent(const StagingProblem &problem,
                      const StagePartition &partition) {
  std::vector<LayerCost> devices(problem.stages);
  auto add = [](LayerCost &to, const LayerCost &cost) {
    to.timePs += cost.timePs;
    to.memoryBytes += cost.memoryBytes;
  };
  add(devices.front(), problem.embedding);
  add(devices.back(), problem.head);
  int64_t next = 0;
  for (size_t i = 0; i < partition.ranges.size(); ++i) {
    EXPECT_EQ(partition.ranges[i].begin, next);
    EXPECT_LT(next, partition.ranges[i].end);
    for (; next < partition.ranges[i].end; ++next)
      add(devices[i % problem.stages], problem.layers[next]);
  }
  EXPECT_EQ(next, int64_t(problem.layers.size()));
  for (int64_t d = 0; d < problem.stages; ++d) {
    EXPECT_EQ(partition.devices[d].timePs, devices[d].timePs);
    EXPECT_EQ(partition.devices[d].memoryBytes, devices[d].memoryBytes);
    EXPECT_LE(devices[d].timePs, partition.heaviestPs());
    EXPECT_LE(devices[d].memoryBytes,
              problem.memoryLimitBytes.value_or(INT64_MAX));
  }
}

//===----------------------------------------------------------------------===//
// Against all splits
//===----------------------------------------------------------------------===//

/// Enumerates all splits of a small problem.
class AllSplits {
public:
  explicit AllSplits(const StagingProblem &problem)
      : problem(problem), loads(problem.stages) {
    loads.front() = problem.embedding;
    loads.back().timePs += problem.head.timePs;
    loads.back().memoryBytes += problem.head.memoryBytes;
    extend(0, 0);
  }
  /// The least time of the heaviest device; none where none fits.
  std::optional<int64_t> best;

private:
  void extend(int64_t range, int64_t begin) {
    int64_t ranges = problem.stages * problem.interleave;
    auto layers = int64_t(problem.layers.size());
    if (range == ranges)
      return begin == layers ? finish() : void();
    LayerCost &load = loads[range % problem.stages];
    LayerCost before = load;
    for (int64_t end = begin + 1; end <= layers; ++end) {
      load.timePs += problem.layers[end - 1].timePs;
      load.memoryBytes += problem.layers[end - 1].memoryBytes;
      extend(range + 1, end);
    }
    load = before;
  }
  void finish() {
    int64_t longest = 0;
    for (const LayerCost &load : loads) {
      if (load.memoryBytes > problem.memoryLimitBytes.value_or(INT64_MAX))
        return;
      longest = std::max(longest, load.timePs);
    }
    best = std::min(best.value_or(longest), longest);
  }

  const StagingProblem &problem;
  std::vector<LayerCost> loads;
};

class Random {
public:
  explicit Random(unsigned seed) : engine(seed) {}
  int64_t upTo(int64_t most) { return int64_t(engine() % (most + 1)); }
  LayerCost cost(int64_t mostTime) { return {upTo(mostTime), upTo(20)}; }
  /// Any costs, or a few kinds of layers.
  StagingProblem problem() {
    StagingProblem problem;
    int64_t layers = 1 + upTo(11), mostTime = upTo(1) ? 9 : 100'000;
    std::vector<LayerCost> kinds;
    for (int64_t i = upTo(2); i >= 0; --i)
      kinds.push_back(cost(mostTime));
    bool few = upTo(1);
    for (int64_t i = 0; i < layers; ++i)
      problem.layers.push_back(few ? kinds[upTo(int64_t(kinds.size()) - 1)]
                                   : cost(mostTime));
    problem.embedding = cost(mostTime / 2);
    problem.head = cost(mostTime * 3);
    problem.stages = 1 + upTo(std::min<int64_t>(layers, 5) - 1);
    problem.interleave =
        1 + upTo(std::min<int64_t>(layers / problem.stages, 4) - 1);
    int64_t memory = problem.embedding.memoryBytes + problem.head.memoryBytes;
    for (const LayerCost &layer : problem.layers)
      memory += layer.memoryBytes;
    if (upTo(2))
      problem.memoryLimitBytes = memory / problem.stages + upTo(12);
    return problem;
  }

private:
  std::mt19937 engine;
};

TEST(PartitionStages, IsOptimalOnSmallCases) {
  Random random(7);
  int fitting = 0, limited = 0, interleaved = 0;
  for (int i = 0; i < 4000; ++i) {
    StagingProblem problem = random.problem();
    std::optional<int64_t> best = AllSplits(problem).best;
    Result<StagePartition> partition = partitionStages(problem);
    ASSERT_EQ(bool(partition), best.has_value()) << "case " << i;
    if (!partition)
      continue;
    expectConsistent(problem, *partition);
    ASSERT_EQ(partition->heaviestPs(), *best) << "case " << i;
    ASSERT_TRUE(partition->optimal()) << "case " << i;
    EXPECT_EQ(partition->gap(), 0);
    ++fitting;
    limited += problem.memoryLimitBytes.has_value();
    interleaved += problem.interleave > 1;
  }
  EXPECT_GT(fitting, 2400);
  EXPECT_GT(limited, 1000);
  EXPECT_GT(interleaved, 800);
}

//===----------------------------------------------------------------------===//
// Models
//===----------------------------------------------------------------------===//

/// Llama 3.1 405B: what a token multiplies, one parameter a picosecond.
StagingProblem llama405B() {
  int64_t hidden = 16384, mlp = 53248, vocabulary = 128256;
  int64_t layer = hidden * (2 * hidden + 2 * 1024) + 3 * hidden * mlp;
  StagingProblem problem;
  problem.layers.assign(126, {layer, 2 * layer});
  problem.embedding = {0, 2 * vocabulary * hidden};
  problem.head = {vocabulary * hidden, 2 * vocabulary * hidden};
  problem.stages = 16;
  problem.interleave = 2;
  return problem;
}

/// 126 layers are two less than 8 on each of 16 devices; the head takes 0.66 of
/// one: the last device has 7 at most, the others 8 at least once.
TEST(PartitionStages, Llama405BOver16StagesWithInterleave2) {
  StagingProblem problem = llama405B();
  Result<StagePartition> partition = partitionStages(problem);
  ASSERT_TRUE(bool(partition)) << partition.error().str();
  expectConsistent(problem, *partition);
  EXPECT_TRUE(partition->optimal());
  EXPECT_EQ(partition->heaviestPs(), 8 * problem.layers[0].timePs);
  EXPECT_EQ(partition->aboveSecondPs, 0);
  // Far below the budget of one trial: well under a millisecond.
  EXPECT_LT(partition->searched, 10'000);
}

/// What bounds the last device is its time, what bounds the first its memory:
/// each quantity alone leaves room for all layers, both together do not. No
/// split has to be tried to see that.
TEST(PartitionStages, BoundsLayersByTimeAndMemoryTogether) {
  StagingProblem problem = llama405B();
  problem.head.timePs = 3 * problem.layers[0].timePs;
  problem.embedding.memoryBytes = 2 * problem.layers[0].memoryBytes;
  Result<StagePartition> partition = partitionStages(problem);
  ASSERT_TRUE(bool(partition)) << partition.error().str();
  expectConsistent(problem, *partition);
  EXPECT_TRUE(partition->optimal());
  EXPECT_LT(partition->searched, 10'000);
}

/// DeepSeek-V3, likewise: MLA, a dense or a routed MLP (8 of 256 experts and a
/// shared one), and a layer of multi-token prediction with a projection and
/// the head of its own token.
StagingProblem deepSeekV3() {
  int64_t hidden = 7168, vocabulary = 129280;
  int64_t attention = hidden * 1536 + 1536 * 128 * 192 + hidden * 576 +
                      512 * 128 * 256 + 128 * 128 * hidden;
  int64_t expert = 3 * hidden * 2048, router = hidden * 256;
  int64_t head = vocabulary * hidden, dense = attention + 9 * expert;
  LayerCost routed = {dense + router, attention + 257 * expert + router};
  StagingProblem problem;
  problem.layers.assign(3, {dense, dense});
  problem.layers.insert(problem.layers.end(), 58, routed);
  int64_t projection = 2 * hidden * hidden;
  problem.layers.push_back(
      {routed.timePs + projection + head, routed.memoryBytes + projection});
  problem.embedding = {0, head};
  problem.head = {head, head};
  problem.stages = 16;
  return problem;
}

/// The least heaviest time where all stages have as many layers, or one more:
/// `more` of them.
int64_t bestEqualCounts(const StagingProblem &problem, int64_t stage = 0,
                        int64_t begin = 0, int64_t more = -1) {
  auto layers = int64_t(problem.layers.size());
  if (more < 0)
    more = layers % problem.stages;
  if (stage == problem.stages)
    return begin == layers ? 0 : INT64_MAX;
  int64_t least = INT64_MAX;
  for (int64_t extra = 0; extra <= std::min<int64_t>(more, 1); ++extra) {
    int64_t time = stage == 0 ? problem.embedding.timePs : 0;
    if (stage + 1 == problem.stages)
      time += problem.head.timePs;
    int64_t end = std::min(begin + layers / problem.stages + extra, layers);
    for (int64_t i = begin; i < end; ++i)
      time += problem.layers[i].timePs;
    int64_t rest = bestEqualCounts(problem, stage + 1, end, more - extra);
    least = std::min(least, std::max(time, rest));
  }
  return least;
}

/// What balancing by cost gains, in percent, printed.
double gainOf(const char *name, const StagingProblem &problem) {
  Result<StagePartition> partition = partitionStages(problem);
  EXPECT_TRUE(bool(partition) && partition->optimal()) << name;
  int64_t equal = bestEqualCounts(problem);
  EXPECT_EQ(equalCountsTime(problem), equal) << name;
  EXPECT_LE(partition->heaviestPs(), equal) << name;
  double gain = 100 * (1 - double(partition->heaviestPs()) / double(equal));
  std::printf("%s: %.1f%% less than equal counts: %s\n", name, gain,
              textOf(partition->ranges).c_str());
  return gain;
}

TEST(PartitionStages, IsNeverWorseThanEqualCounts) {
  StagingProblem problem = deepSeekV3();
  EXPECT_GT(gainOf("DeepSeek-V3", problem), 20);
  problem.layers.back().timePs = problem.layers[60].timePs;
  gainOf("its MTP layer as any other", problem);
  problem.head.timePs = 0;
  gainOf("and no head", problem);
}

/// 64 equal layers over 16 stages, and a head as long as three: equal counts
/// make the last stage 7 long; 15 stages of 63 layers need 5.
TEST(PartitionStages, PlantedHeadGains) {
  StagingProblem problem = problemOf(std::vector<int64_t>(64, 10), 16);
  EXPECT_EQ(gainOf("head of nothing", problem), 0);
  problem.head.timePs = 30;
  EXPECT_NEAR(gainOf("head of three layers", problem), 100 * 2 / 7.0, 1e-9);
}

//===----------------------------------------------------------------------===//
// By hand
//===----------------------------------------------------------------------===//

TEST(PartitionStages, EvensOutWhatTheHeaviestLeavesOpen) {
  Result<StagePartition> partition =
      partitionStages(problemOf(std::vector<int64_t>(10, 5), 4));
  ASSERT_TRUE(bool(partition));
  EXPECT_EQ(textOf(partition->ranges), "0-2 3-5 6-7 8-9");
  EXPECT_EQ(partition->heaviestPs(), 15);
  EXPECT_EQ(partition->heaviest, 0);
  EXPECT_EQ(partition->aboveSecondPs, 0);
  EXPECT_EQ(partition->aboveMeanPs, 2.5);
}

/// Devices of two stages: pairs of 3 + 3 layers of 10, though the first of all
/// takes 30. Apart, stages would be 1, 4, 4 and 3 layers long.
TEST(PartitionStages, Folds) {
  StagingProblem problem = problemOf({30, 10, 10, 10, 10, 10, 10, 10}, 4);
  problem.folded = true;
  Result<StagePartition> partition = partitionStages(problem);
  ASSERT_TRUE(bool(partition));
  EXPECT_EQ(partition->heaviestPs(), 25);
  EXPECT_TRUE(partition->optimal());
  EXPECT_EQ(partition->stagesOf(0), (std::vector<int64_t>{0, 3}));
  EXPECT_EQ(partition->stagesOf(2), (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(
      partition->devices[0].memoryBytes + partition->devices[1].memoryBytes, 8);
  problem.memoryLimitBytes = 4;
  partition = partitionStages(problem);
  ASSERT_TRUE(bool(partition));
  EXPECT_EQ(partition->devices[0].memoryBytes, 4);
  EXPECT_EQ(partition->heaviestPs(), 30);
  problem.memoryLimitBytes = 3;
  EXPECT_NE(errorOf(problem).find("over the limit of 3 B"), std::string::npos)
      << errorOf(problem);
}

/// Ranges of a device are as long as each other: 126 equal layers over 16
/// stages with two ranges each, the first and the last with a layer more to do.
TEST(PartitionStages, EvensOutRounds) {
  StagingProblem problem = problemOf(std::vector<int64_t>(126, 10), 16, 2);
  problem.embedding.timePs = problem.head.timePs = 10;
  Result<StagePartition> partition = partitionStages(problem);
  ASSERT_TRUE(bool(partition));
  EXPECT_TRUE(partition->optimal());
  expectConsistent(problem, *partition);
  for (const LayerRange &range : partition->ranges) {
    EXPECT_GE(range.end - range.begin, 3) << textOf(partition->ranges);
    EXPECT_LE(range.end - range.begin, 4) << textOf(partition->ranges);
  }
}

/// Three long layers in front: one a device and round, the head's device the
/// shortest ranges. 4 + 2, 4 + 2, 1 + 1 + 4.
TEST(PartitionStages, WithInterleaving) {
  StagingProblem problem = problemOf({4, 4, 1, 2, 2, 1}, 3, 2);
  problem.head.timePs = 4;
  Result<StagePartition> partition = partitionStages(problem);
  ASSERT_TRUE(bool(partition));
  EXPECT_EQ(textOf(partition->ranges), "0-0 1-1 2-2 3-3 4-4 5-5");
  EXPECT_EQ(partition->heaviestPs(), 6);
  EXPECT_TRUE(partition->optimal());
}

TEST(PartitionStages, MemoryMovesLayers) {
  StagingProblem problem = problemOf({1, 1, 1, 1}, 2);
  problem.layers[0].memoryBytes = problem.layers[1].memoryBytes = 10;
  Result<StagePartition> free = partitionStages(problem);
  ASSERT_TRUE(bool(free));
  EXPECT_EQ(textOf(free->ranges), "0-1 2-3");
  problem.memoryLimitBytes = 12;
  Result<StagePartition> limited = partitionStages(problem);
  ASSERT_TRUE(bool(limited));
  EXPECT_EQ(textOf(limited->ranges), "0-0 1-3");
  EXPECT_EQ(limited->heaviestPs(), 3);
  EXPECT_TRUE(limited->optimal());
}

/// Both stages take 3 + 3 either way: the first range is the smaller one.
TEST(PartitionStages, PrefersLessMemory) {
  StagingProblem problem = problemOf({3, 0, 3}, 2);
  problem.layers[1].memoryBytes = 7;
  problem.layers[2].memoryBytes = 5;
  Result<StagePartition> partition = partitionStages(problem);
  ASSERT_TRUE(bool(partition));
  EXPECT_EQ(textOf(partition->ranges), "0-1 2-2");
  EXPECT_EQ(partition->devices[0].memoryBytes, 8);
}

TEST(PartitionStages, SaysHowMuchMemoryIsMissing) {
  StagingProblem problem;
  problem.layers.assign(12, {1, 10 * gib});
  problem.embedding.memoryBytes = 5 * gib;
  problem.stages = 2;
  problem.memoryLimitBytes = 40 * gib;
  EXPECT_EQ(errorOf(problem),
            "2 stages: the fullest device needs 65.00 GiB, 25.00 GiB over the "
            "limit of 40.00 GiB\n  note: 4 stages would do");
  problem.stages = 1;
  problem.interleave = 3;
  EXPECT_EQ(errorOf(problem),
            "1 stage with interleave 3: the fullest device needs 125.00 GiB, "
            "85.00 GiB over the limit of 40.00 GiB\n"
            "  note: 4 stages with interleave 3 would do");
  problem.memoryLimitBytes = 12 * gib;
  problem.interleave = 1;
  EXPECT_EQ(errorOf(problem),
            "1 stage: the fullest device needs 125.00 GiB, 113.00 GiB over "
            "the limit of 12.00 GiB\n  note: no number of stages was found "
            "that would do: split the layers themselves, for example with a "
            "larger tensor-parallel degree");
}

TEST(PartitionStages, RefusesBadProblems) {
  EXPECT_EQ(errorOf(problemOf({1, 1, 1, 1, 1}, 3, 2)),
            "3 stages with interleave 2 are 6 virtual stages, but the model "
            "has 5 layers\n  note: every virtual stage has at least one layer: "
            "at most 3 stages");
  EXPECT_EQ(errorOf(problemOf({1, 1}, 3)),
            "3 stages are 3 virtual stages, but the model has 2 layers\n"
            "  note: every virtual stage has at least one layer: at most "
            "2 stages");
  EXPECT_NE(errorOf(problemOf({}, 1)), "");
  for (int64_t bad : {INT64_MIN, int64_t(-1), int64_t(0), INT64_MAX}) {
    EXPECT_NE(errorOf(problemOf({1, 1}, bad)), "") << bad;
    EXPECT_NE(errorOf(problemOf({1, 1}, 1, bad)), "") << bad;
  }
  for (int64_t bad : {INT64_MIN, int64_t(-1), INT64_MAX}) {
    EXPECT_NE(errorOf(problemOf({1, bad}, 1)), "") << bad;
    StagingProblem problem = problemOf({1, 1}, 1);
    problem.head.memoryBytes = bad;
    EXPECT_NE(errorOf(problem), "") << bad;
  }
  EXPECT_NE(errorOf(problemOf({limits::maxStageTimePs, limits::maxStageTimePs,
                               limits::maxStageTimePs},
                              1)),
            "");
  StagingProblem negative = problemOf({1}, 1);
  negative.memoryLimitBytes = -1;
  EXPECT_NE(errorOf(negative), "");
}

TEST(PartitionStages, TakesTheLargestProblem) {
  std::vector<int64_t> times(limits::maxConfigLayers);
  for (size_t i = 0; i < times.size(); ++i)
    times[i] = 1000 + int64_t(i * 7919 % 1000);
  for (int64_t interleave : {1, 2, 8}) {
    StagingProblem problem =
        problemOf(times, limits::maxVirtualStages / interleave, interleave);
    Result<StagePartition> partition = partitionStages(problem);
    ASSERT_TRUE(bool(partition));
    expectConsistent(problem, *partition);
    EXPECT_EQ(partition->optimal(), partition->gap() == 0);
    if (interleave == 1)
      EXPECT_TRUE(partition->optimal());
  }
}

//===----------------------------------------------------------------------===//
// Given ranges
//===----------------------------------------------------------------------===//

std::string evaluationOf(const StagingProblem &problem, Ranges ranges) {
  Result<StagePartition> partition = evaluateStages(problem, std::move(ranges));
  return partition ? "" : partition.error().str();
}

TEST(EvaluateStages, MeasuresAgainstTheBest) {
  StagingProblem problem = problemOf({10, 10, 10, 10, 10, 10}, 2);
  Result<StagePartition> given = evaluateStages(problem, {{0, 2}, {2, 6}});
  ASSERT_TRUE(bool(given));
  expectConsistent(problem, *given);
  EXPECT_EQ(given->heaviest, 1);
  EXPECT_EQ(given->heaviestPs(), 40);
  EXPECT_EQ(given->aboveSecondPs, 20);
  EXPECT_EQ(given->aboveMeanPs, 10);
  EXPECT_EQ(given->lowerBoundPs, 30);
  EXPECT_FALSE(given->optimal());
  EXPECT_NEAR(given->gap(), 1 / 3.0, 1e-12);
  Result<StagePartition> even = evaluateStages(problem, {{0, 3}, {3, 6}});
  ASSERT_TRUE(bool(even));
  EXPECT_TRUE(even->optimal());
}

TEST(EvaluateStages, RefusesWhatIsNoSplit) {
  StagingProblem problem = problemOf({1, 1, 1, 1}, 2);
  EXPECT_EQ(evaluationOf(problem, {{0, 4}}),
            "1 range for 2 stages\n  note: give 2, one per virtual stage");
  EXPECT_EQ(evaluationOf(problem, {{0, 2}, {3, 4}}),
            "range 3-3 follows layer 1\n  note: it begins with layer 2");
  EXPECT_EQ(evaluationOf(problem, {{1, 2}, {2, 4}}),
            "range 1-1 is the first\n  note: it begins with layer 0");
  EXPECT_EQ(evaluationOf(problem, {{0, 2}, {2, 5}}),
            "range 2-4 of a model with 4 layers\n  note: ranges have at least "
            "one layer; the last layer is 3");
  EXPECT_EQ(evaluationOf(problem, {{0, 2}, {2, 3}}),
            "the ranges end at layer 2\n  note: the last one ends at layer 3");
  EXPECT_NE(evaluationOf(problem, {{0, INT64_MIN}, {INT64_MIN, 4}}), "");
  problem.memoryLimitBytes = 2;
  EXPECT_EQ(
      evaluationOf(problem, {{0, 1}, {1, 4}}),
      "2 stages: the fullest device needs 3 B, 1 B over the limit of 2 B\n"
      "  note: ranges that would do: 0-1,2-3");
}

//===----------------------------------------------------------------------===//
// Picture
//===----------------------------------------------------------------------===//

TEST(DrawStages, OfTwoDevices) {
  StagingProblem problem = problemOf({}, 2, 2);
  problem.layers.assign(5, {2'000'000'000, gib});
  problem.head = {1'000'000'000, 2 * gib};
  Result<StagePartition> partition = partitionStages(problem);
  ASSERT_TRUE(bool(partition));
  EXPECT_EQ(
      drawStages(*partition),
      "stage  layers     time    memory\n"
      "    0  0, 2-3  6.00 ms  3.00 GiB  "
      "##############################################\n"
      "    1  1, 4    5.00 ms  4.00 GiB  "
      "######################################\n"
      "heaviest: stage 0, 6.00 ms; 1.00 ms above the next, 500.0 us above "
      "the mean\n"
      "optimal: no split has a lighter heaviest stage\n");
}

TEST(DrawStages, FitsATerminal) {
  StagingProblem problem = problemOf(std::vector<int64_t>(4000, 1), 2, 2000);
  Result<StagePartition> partition = partitionStages(problem);
  ASSERT_TRUE(bool(partition));
  std::string text =
      drawStages(*partition) + drawStages(*partitionStages(llama405B()));
  std::printf("%s", drawStages(*partitionStages(llama405B())).c_str());
  for (size_t begin = 0; begin < text.size();) {
    size_t end = text.find('\n', begin);
    EXPECT_LE(end - begin, 80u);
    begin = end + 1;
  }
}

//===----------------------------------------------------------------------===//
// Times
//===----------------------------------------------------------------------===//

TEST(Picoseconds, FromMicroseconds) {
  EXPECT_EQ(*toPicoseconds(0), 0);
  EXPECT_EQ(*toPicoseconds(1.5), 1'500'000);
  EXPECT_EQ(*toPicoseconds(4e-7), 0);
  EXPECT_EQ(toMicroseconds(2'500'000), 2.5);
  for (double bad : {-1.0, 1e300, double(NAN), double(INFINITY)})
    EXPECT_FALSE(bool(toPicoseconds(bad))) << bad;
}

TEST(Staging, EqualRanges) {
  EXPECT_EQ(rangesText(equalRanges(8, 4)), "0-1,2-3,4-5,6-7");
  EXPECT_EQ(rangesText(equalRanges(7, 3)), "0-2,3-4,5-6");
  EXPECT_EQ(rangesText(equalRanges(3, 1)), "0-2");
}

} // namespace
