//===- serving.cpp - What a point of a service takes ----------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// usage: serving-bench MODULE [REPLICAS]
//
// MODULE is the output of autopar-opt with flags and without --estimate. Prints
// what a step's price takes, points of closed and open loops, and a simulation:
// microseconds, the median of several runs. REPLICAS are those of the module's
// plan, 1 if absent.
//
//===----------------------------------------------------------------------===//

#include "Subject.h"

#include "autopar/Program/RequestTrace.h"
#include "autopar/Serving/QueueModel.h"
#include "autopar/Serving/Simulation.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <chrono>
#include <string>

using namespace autopar;
using namespace autopar::cost;
using namespace autopar::hardware;
using namespace autopar::program;
using namespace autopar::runtime;
using namespace autopar::schedule;
using namespace autopar::serving;

namespace {

/// Microseconds of one of `count` calls: the median of nine runs.
template <typename Body>
double usOf(int64_t count, Body body) {
  std::vector<double> runs;
  for (int run = 0; run < 9; ++run) {
    auto begin = std::chrono::steady_clock::now();
    for (int64_t i = 0; i < count; ++i)
      body(i);
    std::chrono::duration<double, std::micro> time =
        std::chrono::steady_clock::now() - begin;
    runs.push_back(time.count() / static_cast<double>(count));
  }
  std::nth_element(runs.begin(), runs.begin() + 4, runs.end());
  return runs[4];
}

class ServingBench {
public:
  ServingBench(const Subject &subject, int64_t replicas)
      : compiled(subject.program(), launchingOf(subject.runtime())),
        runtime(subject.runtime()),
        server(compiled, subject.machine(), runtime),
        prices(compiled, subject.machine(), runtime) {
    server.lay(subject.layout(), replicas);
    prices.lay(subject.layout(), replicas);
    asked.prompt = *TokenLengths::parse("2000");
    asked.answer = *TokenLengths::parse("300");
  }

  void run() {
    timeStep();
    timeClosed();
    timeOpen("open loop");
    asked.prompt = *TokenLengths::parse("lognormal:2000,0.6");
    timeOpen("log-normal prompts");
    asked.prompt = *TokenLengths::parse("2000");
    timeSimulation();
  }

private:
  void print(const char *name, double us) {
    llvm::outs() << llvm::format("%-36s %10.2f us\n", name, us);
  }

  void timeStep() {
    print("price of a step", usOf(10'000, [&](int64_t i) {
            StepTime time;
            StepLoad load{static_cast<double>(1 + i % 64), 2000, 1, 2000, 2000};
            (void)prices.priceServed(load, time);
            sum += time.us;
          }));
  }

  void timeClosed() {
    ServedLoad load = ServedLoad::of(asked);
    load.hasSpread = false;
    print("closed loop", usOf(2'000, [&](int64_t i) {
            load.concurrency = 1 + i % 64;
            SteadyState state;
            (void)server.timesOf(load, state);
            sum += state.tpotUs;
          }));
  }

  void timeOpen(const std::string &name) {
    asked.ratePerS = 1;
    ServedLoad load = ServedLoad::of(asked);
    SteadyState state;
    (void)server.timesOf(load, state);
    double most = state.mostPerS;
    for (bool hasSpread : {false, true}) {
      load.hasSpread = hasSpread;
      std::string what = name + (hasSpread ? ", with percentiles" : "");
      print(what.c_str(), usOf(2'000, [&](int64_t i) {
              load.ratePerS = most * static_cast<double>(1 + i % 90) / 100;
              SteadyState point;
              (void)server.timesOf(load, point);
              sum += point.tpotUs;
            }));
    }
  }

  /// Some 64 at once.
  void timeSimulation() {
    constexpr int64_t count = 100'000;
    asked.ratePerS = 0;
    asked.concurrency = 64;
    SimulatedLoad load;
    load.concurrency = 64;
    load.requests = drawRequests(asked, count, /*seed=*/1);
    StepTime time;
    (void)prices.price({1, 2000}, time);
    Engine engine = engineOf(runtime, time.capacityTokens,
                             static_cast<int64_t>(prices.lockStepReplicas()));
    print("simulation of 100,000 requests", usOf(1, [&](int64_t) {
            sum += simulate(prices, engine, load).endUs;
          }));
  }

  CompiledProgram compiled;
  Runtime runtime;
  QueueModel server;
  StepPrices prices;
  Requests asked;
  double sum = 0;
};

} // namespace

int main(int argc, char **argv) {
  int64_t replicas = 1;
  if (argc < 2 || argc > 3 ||
      (argc == 3 && llvm::StringRef(argv[2]).getAsInteger(10, replicas))) {
    llvm::errs() << "usage: serving-bench MODULE [REPLICAS]\n";
    return 1;
  }
  std::unique_ptr<Subject> subject = Subject::load(argv[1]);
  if (!subject)
    return 1;
  ServingBench(*subject, replicas).run();
  return 0;
}
