//===- price.cpp - Prices of one strategy, checked and timed --------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// MODEL.mlir is a module that has been split: the output of autopar-opt with
// flags and without --estimate. `check` compares every node of random layouts
// and points in doubles, in lanes and exactly, of the whole model and of random
// parts. `scalar` and `lanes` price so many plans, each with a layout of its
// own (a sixteenth of one in lanes): the difference of two counts of
// instructions is what plans take. `time` prints plans per second beside
// multiply-adds per second of the core. `staged` lays the layers over --stages
// devices each, --interleave times, for --microbatches that are inputs of one
// sequence each, and prints what the price of layers, the best split and the
// simulated schedule take.
//
// Built on demand: ninja price-bench && bin/price-bench check model.mlir
//
//===----------------------------------------------------------------------===//

#include "Subject.h"

#include "autopar/Cost/Exact.h"
#include "autopar/Cost/StagePricer.h"
#include "autopar/Schedule/Timeline.h"

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Format.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <random>

using namespace autopar;
using namespace autopar::cost;
using namespace autopar::hardware;
using namespace autopar::program;
using namespace autopar::schedule;
using namespace mlir;

namespace cl = llvm::cl;

static cl::opt<std::string> mode(cl::Positional, cl::Required,
                                 cl::desc("check|scalar|lanes|time|staged"));
static cl::opt<std::string> file(cl::Positional, cl::Required,
                                 cl::desc("MODEL.mlir"));
static cl::opt<int64_t> plans("plans", cl::init(16000));

static cl::opt<int64_t> stages("stages", cl::init(4));
static cl::opt<int64_t> interleave("interleave", cl::init(1));
static cl::opt<int64_t> microbatches("microbatches", cl::init(4));

namespace {

//===----------------------------------------------------------------------===//
// Check
//===----------------------------------------------------------------------===//

/// Compares three interpretations of all nodes of a strategy.
class Checker {
public:
  Checker(const Subject &subject, Counting counting)
      : subject(subject), counting(counting),
        strategy(subject.compile(counting)), tape(collectAll(strategy)),
        pricer(tape, subject.machine(), subject.runtime()),
        exact(strategy, subject.machine(), subject.runtime()) {}

  /// The number of nodes that differ.
  int64_t run(int rounds) {
    for (int round = 0; round < rounds; ++round)
      check(randomLayout());
    llvm::outs() << (counting == Counting::whole ? "whole" : "parts") << ": "
                 << strategy.graph.size() << " nodes, " << priced
                 << " layouts priced, " << refused << " refused, " << differ
                 << " values differ\n";
    return differ;
  }

private:
  static Tape collectAll(const Strategy &strategy) {
    std::vector<NodeId> all;
    for (NodeId id = 0; id < strategy.graph.size(); ++id)
      all.push_back(id);
    return collect(strategy, all);
  }

  int64_t pick(int64_t least, int64_t most) {
    return std::uniform_int_distribution<int64_t>(least, most)(random);
  }

  Layout randomLayout() {
    Layout layout = subject.layout();
    int64_t stride = 1;
    for (size_t i = layout.axes.size(); i-- > 0;) {
      int64_t size = int64_t(1) << pick(0, 3);
      layout.axes[i] = {stride, size};
      stride *= size;
    }
    layout.devices = stride;
    if (counting == Counting::whole)
      return layout;
    layout.part = PartCounts(subject.program());
    for (int64_t &kind : layout.part.kinds)
      kind = pick(0, 5);
    for (size_t i = 0; i < layout.part.into.size(); ++i)
      layout.part.into[i] = layout.part.outOf[i] = pick(0, 3);
    layout.passes = pick(1, 4);
    layout.microbatches = pick(1, 4);
    return layout;
  }

  Workload randomWorkload() {
    Workload workload = subject.workload();
    bool decodes = workload.phase == Phase::decode;
    workload.batch = pick(1, 300);
    workload.query = decodes ? 1 : pick(1, 5000);
    workload.context = workload.query + pick(0, 20000);
    workload.encoderTokens = pick(0, 1) * pick(1, 500);
    workload.crossTokens = pick(0, 1) * pick(1, 500);
    return workload;
  }

  void check(const Layout &layout) {
    std::vector<Workload> workloads(laneCount);
    std::array<GroupValues, laneCount> points;
    for (size_t i = 0; i < laneCount; ++i) {
      workloads[i] = randomWorkload();
      points[i] = pointOf(workloads[i]);
    }
    size_t count = tape.outputs.size();
    std::vector<double> scalar(count), lanes(count * laneCount);
    bool isLegal = !pricer.lay(layout);
    if (isLegal != !exact.evaluate(layout, workloads[0]))
      ++differ;
    if (!isLegal) {
      ++refused;
      return;
    }
    ++priced;
    (void)pricer.price(lanesOf(points), lanes.data());
    for (size_t lane = 0; lane < laneCount; ++lane) {
      (void)pricer.price(points[lane], scalar.data());
      (void)exact.evaluate(layout, workloads[lane]);
      for (size_t i = 0; i < count; ++i)
        compare(static_cast<NodeId>(i), scalar[i], lanes[i * laneCount + lane]);
    }
  }

  void compare(NodeId id, double scalar, double lane) {
    double expected = exact.real(id);
    constexpr double whole = 9007199254740992; // 2^53
    bool isWhole = strategy.graph[id].isWhole && std::fabs(expected) < whole;
    bool isNear = std::fabs(scalar - expected) <= 1e-12 * std::fabs(expected);
    if (std::isnan(expected) || std::isinf(expected))
      isNear = true;
    if ((isWhole ? scalar == expected : isNear) &&
        (lane == scalar || std::isnan(scalar)))
      return;
    if (++differ <= 5)
      llvm::errs() << "node " << id << " op "
                   << static_cast<int>(strategy.graph[id].op) << ": exact "
                   << expected << ", scalar " << scalar << ", lane " << lane
                   << "\n";
  }

  const Subject &subject;
  Counting counting;
  Strategy strategy;
  Tape tape;
  Pricer pricer;
  ExactValues exact;
  std::mt19937_64 random{1};
  int64_t differ = 0, priced = 0, refused = 0;
};

//===----------------------------------------------------------------------===//
// Prices
//===----------------------------------------------------------------------===//

/// What a search asks of a plan.
std::vector<NodeId> wantedNodes(const TotalNodes &total) {
  return {total.stepPs, total.communicationPs, total.totalBytes, total.fits,
          total.kvCapacityTokens};
}

class Prices {
public:
  explicit Prices(const Subject &subject)
      : strategy(subject.compile(Counting::whole)),
        tape(collect(strategy, wantedNodes(strategy.total))),
        pricer(tape, subject.machine(), subject.runtime()),
        layout(subject.layout()), workload(subject.workload()) {}

  void printSize() const {
    llvm::outs() << strategy.graph.size() << " nodes; instructions of figures "
                 << tape.code[1].size() - 1 << ", layout "
                 << tape.code[2].size() - 1 << ", point "
                 << tape.code[3].size() - 1 << ", part "
                 << tape.code[4].size() - 1 << "\n";
  }
  bool runScalar(int64_t count) {
    double outputs[5];
    for (int64_t i = 0; i < count; ++i) {
      workload.batch = 1 + i % 64;
      if (pricer.lay(layout) || pricer.price(pointOf(workload), outputs))
        return false;
      sum += outputs[0];
    }
    return true;
  }
  bool runLanes(int64_t count) {
    double outputs[5 * laneCount];
    std::array<GroupValues, laneCount> same;
    same.fill(pointOf(workload));
    LaneValues points = lanesOf(same);
    auto &batches = points[static_cast<size_t>(Symbol::batch)];
    for (int64_t i = 0; i < count; i += laneCount) {
      for (size_t lane = 0; lane < laneCount; ++lane)
        batches[lane] = static_cast<double>(1 + (i + lane) % 64);
      if (pricer.lay(layout) || pricer.price(points, outputs))
        return false;
      sum += outputs[0];
    }
    return true;
  }

  double sum = 0;

private:
  Strategy strategy;
  Tape tape;
  Pricer pricer;
  Layout layout;
  Workload workload;
};

template <typename Body>
double secondsOf(Body body) {
  auto begin = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin)
      .count();
}

/// Dependent chains of multiply-adds, enough of them to fill the units.
double multiplyAddsPerSecond() {
  constexpr int64_t count = 20'000'000;
  double chains[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  double seconds = secondsOf([&] {
    for (int64_t i = 0; i < count; ++i)
      for (double &chain : chains)
        chain = chain * 0.999999 + 1e-9;
  });
  volatile double kept = chains[0];
  (void)kept;
  return 8 * count / seconds;
}

int time(const Subject &subject) {
  Prices prices(subject);
  prices.printSize();
  double scalar = secondsOf([&] { prices.runScalar(plans); });
  double lanes = secondsOf([&] { prices.runLanes(plans); });
  double yardstick = multiplyAddsPerSecond();
  auto count = static_cast<double>(plans);
  llvm::outs() << llvm::format(
      "scalar %.2f M plans/s, lanes %.2f M plans/s, multiply-adds %.0f M/s\n",
      count / scalar / 1e6, count / lanes / 1e6, yardstick / 1e6);
  return 0;
}

//===----------------------------------------------------------------------===//
// Stages
//===----------------------------------------------------------------------===//

/// A plan whose layers lie on stages, priced from the tape of parts on.
class StagedPlan {
public:
  explicit StagedPlan(const Subject &subject)
      : strategy(subject.compile(Counting::parts)),
        tape(collectParts(strategy)),
        pricer(subject.program(), tape, strategy.launching, subject.machine(),
               subject.runtime(), std::nullopt),
        layout(subject.layout()) {
    layout.stages = stages;
    layout.devices *= stages;
    shape.kind =
        interleave > 1 ? ScheduleKind::interleaved : ScheduleKind::one_f_one_b;
    shape.stages = stages;
    shape.interleave = interleave;
    shape.microbatches = microbatches;
    workload = subject.workload();
    workload.batch = 1;
  }

  bool price(std::vector<uint32_t> order) {
    return !pricer.price(order, layout, workload, shape);
  }
  bool split() {
    StagingProblem problem = pricer.problem();
    problem.memoryLimitBytes.reset();
    Result<StagePartition> found = partitionStages(problem);
    if (!found)
      return false;
    partition = std::move(*found);
    return true;
  }
  bool simulate() {
    PipelineSchedule schedule;
    schedule.kind = shape.kind;
    schedule.stages = stages;
    schedule.interleave = interleave;
    schedule.microbatches = microbatches;
    for (const LayerRange &range : partition.ranges) {
      StageWork work;
      for (int64_t layer = range.begin; layer < range.end; ++layer)
        work.forwardPs += pricer.layer(layer).cost.timePs;
      work.inputGradientPs = work.weightGradientPs = work.forwardPs;
      schedule.work.push_back(work);
    }
    Result<PipelineTimeline> timeline = simulateSchedule(schedule);
    if (!timeline)
      llvm::errs() << timeline.error().str() << "\n";
    return bool(timeline);
  }

private:
  Strategy strategy;
  Tape tape;
  StagePricer pricer;
  Layout layout;
  PipelineShape shape;
  Workload workload;
  StagePartition partition;
};

/// The median of the seconds that `body` takes.
template <typename Body>
double medianSeconds(Body body) {
  std::vector<double> seconds;
  for (int i = 0; i < 200; ++i)
    seconds.push_back(secondsOf(body));
  std::sort(seconds.begin(), seconds.end());
  return seconds[seconds.size() / 2];
}

int timeStaged(const Subject &subject) {
  StagedPlan plan(subject);
  Result<std::vector<uint32_t>> order = layersInOrder(subject.program());
  if (!order || !plan.price(*order) || !plan.split() || !plan.simulate()) {
    llvm::errs() << "the plan is refused\n";
    return 1;
  }
  llvm::outs() << llvm::format(
      "price %.1f us, split %.1f us, schedule %.1f us\n",
      1e6 * medianSeconds([&] { plan.price(*order); }),
      1e6 * medianSeconds([&] { plan.split(); }),
      1e6 * medianSeconds([&] { plan.simulate(); }));
  return 0;
}

} // namespace

int main(int argc, char **argv) {
  cl::ParseCommandLineOptions(argc, argv, "prices of one strategy\n");
  std::unique_ptr<Subject> loaded = Subject::load(file);
  if (!loaded)
    return 1;
  const Subject &subject = *loaded;
  if (mode == "check")
    return Checker(subject, Counting::whole).run(30) +
                       Checker(subject, Counting::parts).run(30) ==
                   0
               ? 0
               : 1;
  if (mode == "time")
    return time(subject);
  if (mode == "staged")
    return timeStaged(subject);
  Prices prices(subject);
  bool ok = mode == "lanes" ? prices.runLanes(plans) : prices.runScalar(plans);
  llvm::outs() << (ok ? "priced " : "refused ") << plans << " plans\n";
  return ok ? 0 : 1;
}
