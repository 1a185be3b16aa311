//===- strategies.cpp - All strategies of a model, made and priced --------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// MODEL.mlir has a workload and is not split. All plans of --devices devices
// over tp, dp, ep, etp, dcp and attention tp, with and without sp, are asked of
// a strategy library, whose time and sizes are printed; with --all also those
// over cp, of both kinds, and with fsdp. With --cache=DIR, what lies there is
// read. Every plan that is legal is then priced --rounds times, `scalar` each
// with its layout and one point, `lanes` with sixteen points: the difference of
// the instructions of two runs is what a plan takes on average.
//
// Built on demand: ninja strategies-bench && bin/strategies-bench model.mlir
//
//===----------------------------------------------------------------------===//

#include "autopar/Cost/Pricer.h"
#include "autopar/Evaluate/PlanLayout.h"
#include "autopar/Hardware/Hardware.h"
#include "autopar/InitAll.h"
#include "autopar/Pipelines/StrategyLibrary.h"
#include "autopar/Plan/NeutralAxes.h"
#include "autopar/Plan/StrategyKey.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Format.h"

#include <ctime>
#include <map>

using namespace autopar;
using namespace autopar::cost;
using namespace autopar::evaluation;
using namespace autopar::hardware;
using namespace autopar::pipelines;
using namespace autopar::plan;
using namespace autopar::runtime;
using namespace autopar::schedule;
using namespace mlir;

namespace cl = llvm::cl;

static cl::opt<std::string> file(cl::Positional, cl::Required,
                                 cl::desc("MODEL.mlir"));
static cl::opt<std::string> mode(cl::Positional, cl::init("scalar"),
                                 cl::desc("scalar|lanes"));
static cl::opt<std::string> cache("cache", cl::desc("Folder of the library"));
static cl::opt<std::string> hardware("hardware", cl::init("h100-sxm-8"));
static cl::opt<int64_t> devices("devices", cl::init(64));
static cl::opt<bool> all("all", cl::desc("Also cp and fsdp"));
static cl::opt<int64_t> rounds("rounds", cl::init(1));

namespace {

double cpuSeconds() {
  timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) +
         1e-9 * static_cast<double>(time.tv_nsec);
}

/// All plans, and one of each strategy.
class Space {
public:
  explicit Space(int64_t devices) : devices(devices) {
    for (int64_t tp : divisors(devices))
      for (int64_t cp : divisors(all ? devices / tp : 1))
        addExperts({tp, cp, devices / tp / cp});
  }

  std::map<std::string, std::vector<Plan>> plansOf;
  size_t size = 0;

private:
  static std::vector<int64_t> divisors(int64_t value) {
    std::vector<int64_t> result;
    for (int64_t i = 1; i <= value; ++i)
      if (value % i == 0)
        result.push_back(i);
    return result;
  }

  void addExperts(Degrees degrees) {
    addAttention(degrees);
    for (int64_t ep : divisors(devices))
      for (int64_t etp : divisors(devices / ep)) {
        degrees.ep = ep;
        degrees.etp = etp;
        addAttention(degrees);
      }
  }

  void addAttention(Degrees degrees) {
    for (int64_t attentionTp : divisors(*degrees.tp))
      for (int64_t dcp : divisors(attentionTp)) {
        degrees.attentionTp = attentionTp;
        degrees.dcp = dcp;
        addChoices(degrees);
      }
  }

  void addChoices(const Degrees &degrees) {
    Result<MeshPlan> mesh = planCanonicalMesh(degrees);
    if (!mesh)
      return;
    for (int choice = 0; choice < (all ? 8 : 2); ++choice) {
      Plan plan;
      setMesh(plan, *mesh);
      plan.sequenceParallel = choice & 1;
      plan.fsdp = choice & 2;
      if (choice & 4)
        plan.contextKind = ContextKind::all_to_all;
      if (completeDegrees(plan))
        continue;
      dropNeutralDegrees(plan);
      dropNeutralAxes(plan);
      std::string key = strategyKeyOf(plan);
      if (seen.insert({key, writePlan(plan)}).second) {
        plansOf[key].push_back(std::move(plan));
        ++size;
      }
    }
  }

  const int64_t devices;
  std::set<std::pair<std::string, std::string>> seen;
};

class Bench {
public:
  Bench(const Machine &machine, const Runtime &runtime)
      : machine(machine), runtime(runtime) {}

  void add(const CompiledProgram &compiled, const std::vector<Plan> &plans) {
    Pricer pricer(compiled.step(), machine, runtime);
    std::vector<Layout> layouts;
    for (const Plan &plan : plans) {
      Layout layout = layoutOf(compiled.axes(), plan);
      if (!pricer.lay(layout))
        layouts.push_back(std::move(layout));
      else
        ++refused;
    }
    bool isLegal = !layouts.empty();
    legal += isLegal;
    for (int64_t round = 0; round < rounds && isLegal; ++round)
      for (const Layout &layout : layouts)
        mode == "lanes" ? priceLanes(pricer, layout, round)
                        : priceOne(pricer, layout, round);
  }

  size_t refused = 0, legal = 0, priced = 0;

private:
  static GroupValues pointOf(int64_t batch) {
    return {static_cast<double>(batch), 1, 4096, 0, 0};
  }
  void priceOne(Pricer &pricer, const Layout &layout, int64_t round) {
    double outputs[stepOutputCount];
    (void)pricer.lay(layout);
    (void)pricer.price(pointOf(64 + round % 64), outputs);
    ++priced;
  }
  void priceLanes(Pricer &pricer, const Layout &layout, int64_t round) {
    double outputs[stepOutputCount * laneCount];
    std::array<GroupValues, laneCount> points;
    for (size_t lane = 0; lane < laneCount; ++lane)
      points[lane] = pointOf(64 + round + static_cast<int64_t>(lane));
    (void)pricer.lay(layout);
    (void)pricer.price(lanesOf(points), outputs);
    priced += laneCount;
  }

  const Machine &machine;
  const Runtime &runtime;
};

} // namespace

int main(int argc, char **argv) {
  cl::ParseCommandLineOptions(argc, argv, "all strategies of a model\n");
  DialectRegistry registry;
  registerAllDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(file, &context);
  if (!module)
    return 1;
  std::vector<bool> used;
  Result<Runtime> runtime = readRuntime("vllm", {}, used);
  Result<Machine> machine = HardwareLibrary({}).machine(::hardware, devices / 8);
  if (!runtime || !machine) {
    llvm::errs() << (runtime ? machine.error() : runtime.error()).str() << "\n";
    return 1;
  }
  Space space(devices);
  // Plans that passes refuse are no errors here.
  context.getDiagEngine().registerHandler([](Diagnostic &) {});

  double start = cpuSeconds();
  StrategyLibrary library(*module, *runtime, cache);
  std::map<std::string, CompiledProgram *> programs;
  for (const auto &[key, plans] : space.plansOf)
    programs[key] = library.find(plans.front());
  double found = cpuSeconds();
  Bench bench(*machine, *runtime);
  size_t refused = 0;
  for (const auto &[key, program] : programs) {
    if (program)
      bench.add(*program, space.plansOf[key]);
    refused += !program;
  }
  double priced = cpuSeconds();
  if (Result<bool> saved = library.save(); !saved)
    llvm::errs() << saved.error().str() << "\n";
  llvm::outs() << space.size << " plans of " << programs.size()
               << " strategies, " << refused << " refused by passes; "
               << library.madeCount() << " made; found in "
               << llvm::format("%.0f", (found - start) * 1e3) << " ms of CPU\n"
               << bench.legal << " strategies with legal plans, "
               << bench.refused << " plans refused; " << bench.priced
               << " prices in " << llvm::format("%.0f", (priced - found) * 1e3)
               << " ms\n";
  return 0;
}
