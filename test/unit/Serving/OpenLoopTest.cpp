//===- OpenLoopTest.cpp - Requests that come when they come ---------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fixture.h"

#include "autopar/Program/RequestTrace.h"
#include "autopar/Serving/SimulatedService.h"
#include "autopar/Serving/Simulation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>

using namespace autopar;
using namespace autopar::hardware;
using namespace autopar::program;
using namespace autopar::schedule;
using namespace autopar::serving;
using namespace autopar::test;

namespace {

struct OpenLoopTest : ServingTest {
  OpenLoopTest() { runtime.cutsPrompts = true; }

  /// Open, with limits in the midst of its times.
  static ServedLoad loadOf(const TokenLengths &prompt,
                           const TokenLengths &answer) {
    Requests requests;
    requests.prompt = prompt;
    requests.answer = answer;
    requests.limits = {300e3, 40e3};
    ServedLoad load = ServedLoad::of(requests);
    return load;
  }

  /// So many requests of one replica, whose caches hold what `state` says.
  SimulatedRun simulated(const Requests &asked, const SteadyState &state,
                         int64_t requests, uint64_t seed) {
    SimulatedRun run;
    run.load.requests = drawRequests(asked, requests, seed);
    StepPrices prices(program, machine, runtime);
    prices.lay(makeLayout(8), /*replicas=*/1);
    run.result =
        simulate(prices, engineOf(runtime, state.capacityTokens, 1), run.load);
    return run;
  }
};

/// Errors of the closed form, by number.
struct Errors {
  void add(const char *name, double predicted, double measured) {
    all[name].push_back(std::abs(predicted / measured - 1));
  }
  double at(const std::string &name, double share) {
    std::vector<double> errors = all[name];
    std::sort(errors.begin(), errors.end());
    return errors[static_cast<size_t>(share * double(errors.size() - 1))];
  }
  std::map<std::string, std::vector<double>> all;
};

} // namespace

/// Random deployments at 5 to 90 % of what they serve: prompts that are cut or
/// not, fused or not, lengths of three laws, few to many sequences at once; one
/// in four with caches of most of each prompt.
TEST_F(OpenLoopTest, TheClosedFormIsNear) {
  constexpr int loads = 120, requests = 4000;
  std::mt19937_64 random(3);
  auto pick = [&](int64_t least, int64_t most) {
    return std::uniform_int_distribution<int64_t>(least, most)(random);
  };
  auto lengths = [&](int64_t mean) {
    std::string text = std::to_string(mean);
    int64_t law = pick(0, 2);
    if (law == 1)
      text = "uniform:" + std::to_string(mean / 2) + ".." +
             std::to_string(mean * 3 / 2);
    else if (law == 2)
      text = "lognormal:" + text + ",0.6";
    return *TokenLengths::parse(text);
  };
  Errors errors;
  for (int i = 0; i < loads; ++i) {
    runtime.fusesPrompts = pick(0, 1) == 1;
    runtime.cutsPrompts = pick(0, 1) == 1;
    runtime.tokenBudget.value = double(int64_t(1024) << pick(0, 4));
    runtime.maxSequences.value = double(int64_t(8) << pick(0, 7));
    runtime.requestTimePerTokenUs.value = 5;
    TokenLengths prompt = lengths(pick(100, 6000)),
                 answer = lengths(pick(50, 1000));
    ServedLoad load = loadOf(prompt, answer);
    load.cachedShare = i % 4 == 0 ? 0.75 : 0;
    SteadyState state = serve(load);
    load.ratePerS = double(pick(5, 90)) / 100 * state.mostPerS;
    state = serve(load);
    Requests asked;
    asked.ratePerS = load.ratePerS;
    asked.cachedShare = load.cachedShare;
    asked.prompt = prompt;
    asked.answer = answer;
    SimulatedRun run = simulated(asked, state, requests, /*seed=*/i);
    ASSERT_FALSE(run.result.tooLong);
    ASSERT_FALSE(run.result.refusal);
    SimulatedService measured =
        summarize(run, load.limits, requests / 4, requests);
    // Little's law.
    EXPECT_NEAR(state.running,
                load.ratePerS / 1e6 * load.decodedTokens() * state.tpotUs,
                1e-6 * state.running);
    errors.add("tpot", state.tpotUs, measured.tpot.mean);
    errors.add("ttft", state.ttftUs, measured.ttft.mean);
    errors.add("ttft_p99", state.ttft.p99, measured.ttft.at.p99);
    errors.add("tpot_p90", state.tpot.p90, measured.tpot.at.p90);
    errors.add("request_p50", state.request.p50, measured.request.at.p50);
    errors.add("late", 2 - state.shareWithinLimits,
               2 - measured.shareWithinLimits);
  }
  for (auto &[name, all] : errors.all)
    RecordProperty(name, std::to_string(errors.at(name, 0.9)));
  // So few requests scatter by as much again as the form is off: 3.5, 11 and
  // 23 % of 500 loads with 10,000 requests each.
  EXPECT_LT(errors.at("tpot", 0.5), 0.01);
  EXPECT_LT(errors.at("tpot", 0.9), 0.05);
  EXPECT_LT(errors.at("ttft", 0.5), 0.04);
  EXPECT_LT(errors.at("ttft", 0.9), 0.15);
  EXPECT_LT(errors.at("ttft_p99", 0.5), 0.12);
  EXPECT_LT(errors.at("ttft_p99", 0.9), 0.29);
  EXPECT_LT(errors.at("tpot_p90", 0.9), 0.20);
  EXPECT_LT(errors.at("request_p50", 0.9), 0.06);
  EXPECT_LT(errors.at("late", 0.9), 0.06);
}

/// Of M/D/1: requests of one token, one at a time.
TEST_F(OpenLoopTest, QueuesAsMD1) {
  runtime.maxSequences.value = 1;
  ServedLoad load = loadOf(*TokenLengths::parse("500"), TokenLengths());
  load.ratePerS = 1e-3;
  double service = serve(load).ttftUs;
  for (double used : {0.3, 0.7}) {
    load.ratePerS = used * 1e6 / service;
    EXPECT_NEAR(serve(load).ttftUs, service * (1 + used / (2 * (1 - used))),
                0.01 * service)
        << used;
  }
}

/// Prompts that have steps of their own, one in each, take a share of the time:
/// what decodes has the rest (as of the second class of M/G/1 with priorities).
TEST_F(OpenLoopTest, PromptsComeBeforeWhatDecodes) {
  runtime.fusesPrompts = false;
  runtime.tokenBudget.value = 500;
  ServedLoad load =
      loadOf(*TokenLengths::parse("500"), *TokenLengths::parse("2000"));
  load.ratePerS = 1e-3;
  double prompt = serve(load).promptStepUs;
  for (double used : {0.05, 0.1}) {
    load.ratePerS = used * 1e6 / prompt;
    SteadyState state = serve(load);
    ASSERT_FALSE(state.isOverloaded);
    EXPECT_NEAR(state.tpotUs, state.decodeStepUs / (1 - used),
                0.01 * state.tpotUs)
        << used;
  }
}

/// Prompts beside what decodes, one in each step that has any: tokens are as
/// many as steps, which take longer by as many prompts as come in them.
TEST_F(OpenLoopTest, StepsWaitForThePromptsThatComeInThem) {
  runtime.tokenBudget.value = 700;
  ServedLoad load =
      loadOf(*TokenLengths::parse("500"), *TokenLengths::parse("300"));
  load.ratePerS = 2;
  SteadyState state = serve(load);
  ASSERT_FALSE(state.isOverloaded);
  double added = state.promptStepUs - state.decodeStepUs;
  EXPECT_NEAR(state.tpotUs,
              state.decodeStepUs / (1 - load.ratePerS * added / 1e6),
              0.01 * state.tpotUs);
}

/// What is more than it serves makes a queue without end.
TEST_F(OpenLoopTest, MoreThanItServesIsSaid) {
  ServedLoad load =
      loadOf(*TokenLengths::parse("1000"), *TokenLengths::parse("200"));
  load.ratePerS = 1;
  double most = serve(load).mostPerS;
  load.ratePerS = 0.99 * most;
  EXPECT_FALSE(serve(load).isOverloaded);
  load.ratePerS = 1.01 * most;
  SteadyState state = serve(load);
  EXPECT_TRUE(state.isOverloaded);
  EXPECT_TRUE(std::isinf(state.ttftUs));
  EXPECT_NEAR(state.outputTokensPerSecond, 200 * most, 1e-6 * 200 * most);
}

/// Caches that are full evict, and what is read again takes its time: it serves
/// what a simulation with a queue without end does.
TEST_F(OpenLoopTest, FullCachesEvict) {
  constexpr int64_t requests = 6000;
  runtime.fusesPrompts = true;
  runtime.maxSequences.value = 4096;
  for (const char *prompt : {"4000", "uniform:1000..3000"}) {
    Requests asked;
    asked.prompt = *TokenLengths::parse(prompt);
    asked.answer = *TokenLengths::parse("lognormal:800,0.6");
    asked.ratePerS = 1000;
    SteadyState state = serve(ServedLoad::of(asked));
    ASSERT_TRUE(state.isOverloaded);
    ASSERT_TRUE(state.isCacheFull);
    SimulatedRun run = simulated(asked, state, requests, /*seed=*/1);
    double ended = double(requests), evictions = 0;
    for (const ServedRequest &served : run.result.requests)
      evictions += served.evictions;
    EXPECT_GT(evictions, 0.01 * ended);
    EXPECT_NEAR(state.mostPerS, ended / run.result.endUs * 1e6,
                0.05 * state.mostPerS);
  }
}

/// Tokens that are cached are not read again.
TEST_F(OpenLoopTest, CachedTokensAreNotRead) {
  ServedLoad load =
      loadOf(*TokenLengths::parse("4000"), *TokenLengths::parse("200"));
  load.ratePerS = 1;
  SteadyState whole = serve(load);
  load.cachedShare = 0.75;
  SteadyState cached = serve(load);
  EXPECT_LT(cached.ttftUs, 0.5 * whole.ttftUs);
  EXPECT_GT(cached.mostPerS, 1.2 * whole.mostPerS);
}

/// Long prompts have more in caches, too, which they see: where all of them had
/// as much there, the p99 of first tokens would be two fifths less.
TEST_F(OpenLoopTest, LongPromptsSeeMoreThatIsCached) {
  Requests asked;
  asked.prompt = *TokenLengths::parse("lognormal:40000,0.6");
  asked.answer = *TokenLengths::parse("200");
  asked.cachedShare = 0.9;
  ServedLoad load = ServedLoad::of(asked);
  load.ratePerS = 1;
  load.ratePerS = asked.ratePerS = 0.3 * serve(load).mostPerS;
  SteadyState state = serve(load);
  SimulatedRun run = simulated(asked, state, 20'000, /*seed=*/1);
  SimulatedService measured = summarize(run, load.limits, 5'000, 20'000);
  EXPECT_NEAR(state.ttftUs / measured.ttft.mean, 1, 0.03);
  EXPECT_NEAR(state.ttft.p99 / measured.ttft.at.p99, 1, 0.12);
}
