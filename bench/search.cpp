//===- search.cpp - A search beside the pricers that it is made of --------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// MODEL.mlir has a workload and is not split. `search` goes through --space on
// --devices devices and prices every plan, also those that a bound excludes;
// `lanes` has pricers price the same plans of the same programs, sixteen
// batches at once, and does nothing else: what bench/price does in lanes, over
// all strategies. Both run on one thread, on programs that are made before;
// `both` alternates them --rounds times and prints prices per second of each
// and their ratio, of the whole search and of it from where its plans are
// listed and their programs found. The difference of the instructions of
// `search` (or `lanes`) with two --rounds is what a round takes.
//
// Built on demand: ninja search-bench && bin/search-bench model.mlir
//
//===----------------------------------------------------------------------===//

#include "autopar/Search/Search.h"
#include "autopar/Cost/Pricer.h"
#include "autopar/Dialect/Transformer/Transformer.h"
#include "autopar/Evaluate/PlanLayout.h"
#include "autopar/Hardware/Hardware.h"
#include "autopar/InitAll.h"
#include "autopar/Pipelines/StrategyLibrary.h"
#include "autopar/Plan/Degrees.h"
#include "autopar/Plan/StrategyKey.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Format.h"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <map>

using namespace autopar;
using namespace autopar::cost;
using namespace autopar::evaluation;
using namespace autopar::hardware;
using namespace autopar::pipelines;
using namespace autopar::plan;
using namespace autopar::program;
using namespace autopar::runtime;
using namespace autopar::schedule;
using namespace autopar::search;
using namespace mlir;

namespace cl = llvm::cl;

static cl::opt<std::string> file(cl::Positional, cl::Required,
                                 cl::desc("MODEL.mlir"));
static cl::opt<std::string> mode(cl::Positional, cl::init("both"),
                                 cl::desc("both|search|lanes"));
static cl::opt<std::string> cache("cache", cl::desc("Folder of the library"));
static cl::opt<std::string> hardware("hardware", cl::init("h200-sxm-8"));
static cl::opt<int64_t> devices("devices", cl::init(64));
static cl::opt<std::string> space("space", cl::init("pp=1"));
static cl::opt<int64_t> context("context", cl::init(4096));
static cl::opt<int64_t> rounds("rounds", cl::init(5));

namespace {

double cpuSeconds() {
  timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) +
         1e-9 * static_cast<double>(time.tv_nsec);
}

class Library : public ProgramSource {
public:
  Library(ModuleOp module, const Runtime &runtime)
      : library(module, runtime, cache) {}

  CompiledProgram *find(const Plan &plan) override {
    return library.find(plan);
  }
  void save() {
    if (Result<bool> saved = library.save(); !saved)
      llvm::errs() << saved.error().str() << "\n";
  }

private:
  StrategyLibrary library;
};

/// The plans of a space as layouts of programs.
class Lanes {
public:
  explicit Lanes(const SearchProblem &problem)
      : problem(problem), target(problem.targets.front()) {
    std::map<std::string, size_t> known;
    forEachSizes(problem.space, target.devices, problem.hasExperts,
                 [&](const PlanSizes &sizes) {
                   for (const PlanChoice &choice :
                        choicesOf(problem.space, sizes))
                     add(sizes, choice, known);
                   return true;
                 });
    addPoints();
  }

  /// How many points were priced.
  int64_t run() {
    int64_t priced = 0;
    std::vector<double> outputs(stepOutputCount * laneCount);
    for (const Strategy &strategy : strategies) {
      Pricer pricer(strategy.program->step(), target.machine, target.runtime);
      for (const Layout &layout : strategy.layouts) {
        if (pricer.lay(layout))
          continue;
        for (const LaneValues &block : blocks)
          if (!pricer.price(block, outputs.data()))
            priced += laneCount;
      }
    }
    return priced;
  }

  size_t strategyCount() const { return strategies.size(); }

private:
  struct Strategy {
    CompiledProgram *program;
    std::vector<Layout> layouts;
  };

  void add(const PlanSizes &sizes, const PlanChoice &choice,
           std::map<std::string, size_t> &known) {
    Result<Plan> plan = planOf(target.base, sizes, choice);
    if (!plan || checkChoices(*plan))
      return;
    auto [it, isNew] =
        known.try_emplace(strategyKeyOf(*plan), strategies.size());
    if (isNew)
      strategies.push_back({target.programs->find(*plan), {}});
    Strategy &strategy = strategies[it->second];
    if (strategy.program)
      strategy.layouts.push_back(layoutOf(strategy.program->axes(), *plan));
  }

  /// Sixteen batches each; the last ones are repeated.
  void addPoints() {
    size_t count = problem.batches.size();
    for (size_t first = 0; first < count; first += laneCount) {
      std::array<GroupValues, laneCount> lanes;
      for (size_t lane = 0; lane < laneCount; ++lane) {
        Workload step = problem.workload();
        step.batch = problem.batches[std::min(first + lane, count - 1)];
        lanes[lane] = pointOf(step);
      }
      blocks.push_back(lanesOf(lanes));
    }
  }

  const SearchProblem &problem;
  const SearchTarget &target;
  std::vector<Strategy> strategies;
  std::vector<LaneValues> blocks;
};

/// Points that took a price: those that fit, and those that do not.
int64_t pricesOf(const SearchProof &proof) {
  return static_cast<int64_t>(proof.evaluated - proof.sharedPrices +
                              proof.unfit);
}

/// When a search did what.
struct Phases {
  double list = HUGE_VAL, find = HUGE_VAL, price = HUGE_VAL;

  double sum() const { return list + find + price; }
};

/// The phases of a search, which first says something when all plans are
/// listed.
Phases timeSearch(const SearchProblem &problem) {
  double start = cpuSeconds(), listed = 0;
  SearchControl control;
  control.threads = 1;
  control.progress = [&](std::string_view, size_t, size_t) {
    if (listed == 0)
      listed = cpuSeconds();
    return true;
  };
  Result<SearchResult> result = search::search(problem, control);
  double all = cpuSeconds() - start, list = listed - start;
  double find = result ? result->strategySeconds : 0;
  return {list, find, all - list - find};
}

int run(const SearchProblem &problem) {
  SearchControl control;
  control.threads = 1;
  // Programs are made here, and caches filled.
  Result<SearchResult> first = search::search(problem, control);
  if (!first) {
    llvm::errs() << first.error().str() << "\n";
    return 1;
  }
  Lanes lanes(problem);
  (void)lanes.run();
  Phases best;
  double byLanes = HUGE_VAL;
  int64_t priced = 0;
  for (int64_t round = 0; round < rounds; ++round) {
    if (mode != "lanes") {
      Phases one = timeSearch(problem);
      if (one.sum() < best.sum())
        best = one;
    }
    double start = cpuSeconds();
    if (mode != "search")
      priced = lanes.run();
    byLanes = std::min(byLanes, cpuSeconds() - start);
  }
  const SearchProof &proof = first->proof;
  int64_t inSearch = pricesOf(proof);
  llvm::outs() << proof.space << " points of " << first->strategies
               << " strategies: " << proof.evaluated << " evaluated, "
               << proof.unfit << " do not fit, " << proof.excluded
               << " excluded, " << proof.illegal << " illegal\n";
  if (proof.excluded)
    llvm::errs() << "error: points were skipped\n";
  double perSearch = best.sum() / static_cast<double>(inSearch);
  double perLane = byLanes / static_cast<double>(priced);
  if (mode != "lanes")
    llvm::outs() << llvm::format(
        "search: %.1f ms, %.3f M prices/s and core; lists plans in %.1f ms, "
        "finds programs in %.1f ms, prices in %.1f ms\n",
        best.sum() * 1e3, 1e-6 / perSearch, best.list * 1e3, best.find * 1e3,
        best.price * 1e3);
  if (mode != "search")
    llvm::outs() << llvm::format("lanes:  %.1f ms, %.3f M prices/s and core\n",
                                 byLanes * 1e3, 1e-6 / perLane);
  if (mode == "both")
    llvm::outs() << llvm::format(
        "a price of the search takes %.2f times a price in lanes, %.2f times "
        "without the lists and the finding\n",
        perSearch / perLane,
        best.price / static_cast<double>(inSearch) / perLane);
  return proof.excluded != 0;
}

} // namespace

int main(int argc, char **argv) {
  cl::ParseCommandLineOptions(argc, argv, "a search and its pricers\n");
  DialectRegistry registry;
  registerAllDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(file, &context);
  if (!module)
    return 1;
  // Plans that passes refuse are no errors here.
  context.getDiagEngine().registerHandler([](Diagnostic &) {});
  SearchProblem problem;
  SearchTarget target;
  std::vector<bool> used;
  Result<Runtime> runtime = readRuntime("vllm", {}, used);
  Result<Machine> machine =
      HardwareLibrary({}).machine(::hardware, devices / 8);
  Result<SearchSpace> limits = parseSearchSpace(space);
  if (!runtime || !machine || !limits) {
    llvm::errs() << (!runtime   ? runtime.error()
                     : !machine ? machine.error()
                                : limits.error())
                        .str()
                 << "\n";
    return 1;
  }
  machine->useImplementations(runtime->name, runtime->collectives);
  runtime->adaptTo(machine->pools.front());
  Library library(*module, *runtime);
  target.machine = std::move(*machine);
  target.runtime = std::move(*runtime);
  target.devices = devices;
  target.programs = &library;
  problem.targets.push_back(std::move(target));
  problem.space = std::move(*limits);
  auto stop = [](transformer::ExpertsOp) { return WalkResult::interrupt(); };
  problem.hasExperts = module->walk(stop).wasInterrupted();
  Workload step;
  step.phase = Phase::decode;
  step.query = 1;
  step.context = ::context;
  problem.question = Step{step};
  for (int64_t batch = 1; batch <= 32768; batch *= 2)
    problem.batches.push_back(batch);
  problem.verify = true;
  int code = run(problem);
  library.save();
  return code;
}
