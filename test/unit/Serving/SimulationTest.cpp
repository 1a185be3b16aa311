//===- SimulationTest.cpp - Requests through an engine --------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fixture.h"

#include "autopar/Serving/QueueModel.h"
#include "autopar/Serving/SimulatedService.h"
#include "autopar/Serving/Simulation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

using namespace autopar;
using namespace autopar::cost;
using namespace autopar::hardware;
using namespace autopar::schedule;
using namespace autopar::serving;
using namespace autopar::test;

namespace {

struct SimulationTest : ServingTest {
  SimulationTest() { runtime.cutsPrompts = true; }

  StepPrices &prices() {
    made = std::make_unique<StepPrices>(program, machine, runtime);
    made->lay(makeLayout(8), /*replicas=*/1);
    return *made;
  }
  double stepUs(const StepLoad &load) {
    StepTime time;
    EXPECT_FALSE(prices().priceServed(load, time));
    return time.us;
  }
  SimulationResult run(const Engine &engine, const SimulatedLoad &load) {
    SimulationResult result = simulate(prices(), engine, load);
    EXPECT_FALSE(result.refusal);
    EXPECT_FALSE(result.tooLong);
    return result;
  }
  std::unique_ptr<StepPrices> made;
};

/// Closed loops of alike requests.
SimulatedLoad rounds(int64_t concurrency, int64_t count, int64_t prompt,
                     int64_t answer) {
  SimulatedLoad load;
  load.concurrency = concurrency;
  load.requests.assign(static_cast<size_t>(count), {0, prompt, answer});
  return load;
}

double meanTtftUs(const SimulationResult &result) {
  double sum = 0;
  for (const ServedRequest &request : result.requests)
    sum += request.firstTokenUs - request.arrivalUs;
  return sum / static_cast<double>(result.requests.size());
}

double meanTpotUs(const SimulationResult &result, const SimulatedLoad &load) {
  double sum = 0;
  for (size_t i = 0; i < load.requests.size(); ++i)
    sum += (result.requests[i].endUs - result.requests[i].firstTokenUs) /
           static_cast<double>(load.requests[i].answerTokens - 1);
  return sum / static_cast<double>(load.requests.size());
}

} // namespace

/// A prompt, then nine steps with one token more each.
TEST_F(SimulationTest, OneRequestAlone) {
  Engine engine = engineOf(runtime, 1e6, 1);
  SimulationResult result = run(engine, rounds(1, 1, 1000, 10));
  double prompt = stepUs({0, 1, 1, 1000, 1000}), decode = 0;
  for (int64_t context = 1001; context <= 1009; ++context)
    decode += stepUs({1, double(context)});
  EXPECT_EQ(result.steps, 10);
  EXPECT_DOUBLE_EQ(result.requests[0].firstTokenUs, prompt);
  EXPECT_NEAR(result.requests[0].endUs, prompt + decode, 1e-6);
}

/// Requests that are served one after another by a time that is always the
/// same wait as in the queue M/D/1, rho * S / (2 * (1 - rho)) (Pollaczek 1930,
/// Khinchine 1932).
TEST_F(SimulationTest, QueuesAsMD1) {
  Engine engine = engineOf(runtime, 1e6, 1);
  engine.maxSequences = 1;
  double service = stepUs({0, 1, 1, 500, 500});
  for (double rho : {0.3, 0.7}) {
    SimulatedLoad load;
    std::mt19937_64 random(1);
    std::exponential_distribution<double> gap(rho / service);
    double now = 0;
    for (int i = 0; i < 400000; ++i)
      load.requests.push_back({now += gap(random), 500, 1});
    SimulationResult result = run(engine, load);
    double wait = meanTtftUs(result) - service;
    double expected = rho * service / (2 * (1 - rho));
    EXPECT_NEAR(wait, expected, 0.02 * (expected + service)) << rho;
  }
}

/// Two prompts that do not fit into one step: the second is cut.
TEST_F(SimulationTest, PromptsAreCutWhereTheEngineCuts) {
  Engine engine = engineOf(runtime, 1e6, 1);
  engine.stepTokens = 1500;
  SimulationResult cut = run(engine, rounds(2, 2, 1000, 1));
  EXPECT_EQ(cut.steps, 2);
  EXPECT_DOUBLE_EQ(cut.requests[0].firstTokenUs, stepUs({0, 0, 2, 750, 750}));
  engine.cutsPrompts = false;
  SimulationResult whole = run(engine, rounds(2, 2, 1000, 1));
  EXPECT_EQ(whole.steps, 2);
  EXPECT_DOUBLE_EQ(whole.requests[0].firstTokenUs,
                   stepUs({0, 0, 1, 1000, 1000}));
}

/// Two replicas that take steps together: while the second reads its prompt,
/// the first does not decode where prompts have steps of their own.
TEST_F(SimulationTest, ReplicasWaitForEachOther) {
  Engine engine = engineOf(runtime, 1e6, 2);
  SimulatedLoad load;
  load.requests = {{0, 1000, 3}, {1, 1000, 3}};
  // Prompt of the first, of the second, then two tokens of both.
  engine.fusesPrompts = false;
  EXPECT_EQ(run(engine, load).steps, 4);
  // The second prompt beside the second token of the first.
  engine.fusesPrompts = true;
  SimulationResult fused = run(engine, load);
  EXPECT_EQ(fused.steps, 4);
  EXPECT_LT(fused.requests[0].endUs, fused.requests[1].endUs);
}

/// Room for 40 blocks: of two requests that grow to 25 each, one is evicted and
/// read again; with room kept from the start the second one waits.
TEST_F(SimulationTest, WhatHasNoRoomIsEvictedOrWaits) {
  Engine engine = engineOf(runtime, 40 * 16, 1);
  SimulatedLoad load = rounds(2, 2, 200, 200);
  SimulationResult evicts = run(engine, load);
  EXPECT_EQ(evicts.requests[0].evictions, 0);
  EXPECT_GT(evicts.requests[1].evictions, 0);
  engine.reservesAnswers = true;
  SimulationResult waits = run(engine, load);
  EXPECT_EQ(waits.requests[1].evictions, 0);
  EXPECT_GE(waits.requests[1].firstTokenUs, waits.requests[0].endUs);
}

/// Two replicas that alternate: while the second one reads prompts the first
/// does not decode, and evicts nothing for tokens that it does not make. Both
/// of its requests fill its caches; one of them leaves when it has decoded as
/// much as its last block holds.
TEST_F(SimulationTest, NothingIsEvictedForStepsThatDoNotDecode) {
  Engine engine = engineOf(runtime, 40 * 16, 2);
  engine.fusesPrompts = false;
  engine.stepTokens = 320;
  SimulatedLoad load;
  load.requests.assign(20, {0, 320, 1});
  load.requests[0] = load.requests[2] = {0, 312, 20};
  SimulationResult result = run(engine, load);
  EXPECT_EQ(result.requests[0].replica, 0);
  EXPECT_EQ(result.requests[2].replica, 0);
  EXPECT_EQ(result.requests[2].evictions, 1);
  EXPECT_GT(result.requests[2].endUs, result.requests[19].endUs);
}

/// A prompt would fill the caches that an engine that alternates needs for the
/// next token of what decodes: it waits rather than be evicted at once.
TEST_F(SimulationTest, PromptsLeaveRoomForTheNextToken) {
  Engine engine = engineOf(runtime, 40 * 16, 1);
  engine.fusesPrompts = false;
  engine.stepTokens = 320;
  SimulationResult result = run(engine, rounds(2, 2, 320, 8));
  EXPECT_EQ(result.requests[1].evictions, 0);
  EXPECT_GE(result.requests[1].firstTokenUs, result.requests[0].endUs);
}

TEST_F(SimulationTest, ARequestLongerThanTheCachesIsNamed) {
  Engine engine = engineOf(runtime, 1600, 1);
  SimulatedLoad load = rounds(2, 3, 500, 100);
  load.requests[1].answerTokens = 2000;
  SimulationResult result = simulate(prices(), engine, load);
  ASSERT_TRUE(result.tooLong);
  EXPECT_EQ(*result.tooLong, 1u);
}

/// Every request ends once, in the order of its times, and takes no fewer steps
/// than it has tokens.
TEST_F(SimulationTest, SmallWorldsLoseNothing) {
  StepPrices &steps = prices();
  std::mt19937_64 random(7);
  auto pick = [&](int64_t least, int64_t most) {
    return std::uniform_int_distribution<int64_t>(least, most)(random);
  };
  for (int world = 0; world < 10000; ++world) {
    Engine engine;
    engine.blockTokens = pick(1, 16);
    engine.blocks =
        (64 + engine.blockTokens - 1) / engine.blockTokens + pick(0, 20);
    engine.stepTokens = pick(1, 60);
    engine.maxSequences = pick(1, 8);
    engine.fusesPrompts = pick(0, 1) == 1;
    engine.cutsPrompts = pick(0, 1) == 1;
    engine.reservesAnswers = pick(0, 1) == 1;
    engine.replicas = pick(1, 3);
    engine.host.streamInterval = pick(1, 5);
    engine.host.receiveInterval = pick(1, 4);
    SimulatedLoad load;
    load.concurrency = pick(0, 6);
    double arrival = 0;
    for (int64_t i = pick(1, 12); i > 0; --i)
      load.requests.push_back(
          {load.concurrency != 0
               ? 0
               : arrival += static_cast<double>(pick(0, 20000)),
           pick(1, 32), pick(1, 32)});
    SimulationResult result = simulate(steps, engine, load);
    ASSERT_FALSE(result.refusal);
    ASSERT_FALSE(result.tooLong);
    ASSERT_EQ(result.blocksInUse, 0) << world;
    int64_t tokens = 0, wantedTokens = 0;
    for (size_t i = 0; i < load.requests.size(); ++i) {
      const ServedRequest &request = result.requests[i];
      tokens = std::max(tokens, load.requests[i].answerTokens);
      wantedTokens += load.requests[i].answerTokens;
      ASSERT_GT(request.firstTokenUs, request.arrivalUs) << world;
      ASSERT_GE(request.endUs, request.firstTokenUs) << world;
      ASSERT_LE(request.endUs, result.endUs) << world;
    }
    ASSERT_GE(result.steps, tokens) << world;
    ASSERT_EQ(result.answerTokens, wantedTokens) << world;
  }
}

/// Requests are dealt in turn: each engine does what it does alone.
TEST_F(SimulationTest, EnginesKnowNothingOfEachOther) {
  StepPrices &steps = prices();
  Engine engine = engineOf(runtime, 100'000, 1);
  SimulatedLoad load, odd;
  for (int64_t i = 0; i < 101; ++i)
    load.requests.push_back({double(i) * 20e3, 500 + 7 * i, 20 + i % 5});
  for (size_t i = 1; i < load.requests.size(); i += 2)
    odd.requests.push_back(load.requests[i]);
  SimulationResult both = simulate(steps, engine, load, /*engines=*/2);
  SimulationResult second = simulate(steps, engine, odd);
  ASSERT_EQ(both.requests.size(), 101u);
  for (size_t i = 0; i < odd.requests.size(); ++i) {
    EXPECT_EQ(both.requests[2 * i + 1].endUs, second.requests[i].endUs);
    EXPECT_EQ(both.requests[2 * i + 1].replica, 1);
    EXPECT_EQ(both.requests[2 * i].replica, 0);
  }
  EXPECT_EQ(both.blocksInUse, 0);

  // Three places of two engines: two of the first, one of the second.
  load.concurrency = 3;
  odd.concurrency = 1;
  EXPECT_EQ(simulate(steps, engine, load, 2).requests[99].endUs,
            simulate(steps, engine, odd).requests[49].endUs);
  load.requests[77].promptTokens = 1'000'000;
  EXPECT_EQ(simulate(steps, engine, load, 2).tooLong, 77u);
}

/// A prompt of one step, then a step for each token: the host is before the
/// first, and ten tokens are sent together.
TEST_F(SimulationTest, TheHostIsOutsideOfSteps) {
  StepPrices &steps = prices();
  Engine engine = engineOf(runtime, 100'000, 1);
  SimulatedLoad load;
  load.requests = {{0, 1000, 30}, {0, 1000, 5}};
  load.concurrency = 1;
  SimulationResult plain = simulate(steps, engine, load);
  engine.host = {3000, 2, 500, /*streamInterval=*/10, /*receiveInterval=*/1};
  SimulationResult hosted = simulate(steps, engine, load);
  double readUs = plain.requests[0].firstTokenUs;
  const ServedRequest &first = hosted.requests[0], &second = hosted.requests[1];
  // Nobody else answers: 3000 us, and 2 for each of 1,000 tokens.
  EXPECT_NEAR(first.madeUs, 5000 + readUs, 1e-6);
  EXPECT_NEAR(first.endUs, 5000 + plain.requests[0].endUs, 1e-6);
  StepTime step;
  ASSERT_FALSE(steps.price({1, 1010}, step));
  EXPECT_NEAR(first.firstTokenUs - first.madeUs, 9 * step.us, 0.01 * step.us);
  EXPECT_EQ(ttftUs(first), first.firstTokenUs);
  EXPECT_NEAR(*tpotUs(load.requests[0], first),
              *tpotUs(load.requests[0], plain.requests[0]), 1e-6);
  // What is shorter is sent whole.
  EXPECT_EQ(second.firstTokenUs, second.endUs);
}

/// Beside others that answer, each adds what its stream takes, and the engine
/// looks for requests every fourth step: up to three pass.
TEST_F(SimulationTest, RequestsWaitUntilTheEngineLooks) {
  StepPrices &steps = prices();
  Engine engine = engineOf(runtime, 100'000, 1);
  SimulatedLoad load;
  StepTime step;
  ASSERT_FALSE(steps.price({1, 1100}, step));
  load.requests = {{0, 1000, 2000}};
  double sumUs = 0, plainUs = 0;
  constexpr int64_t count = 32;
  for (int64_t i = 1; i <= count; ++i)
    load.requests.push_back({double(i) * 20.3 * step.us, 16, 1});
  SimulationResult plain = simulate(steps, engine, load);
  engine.host = {0, 0, 700, 1, /*receiveInterval=*/4};
  SimulationResult seldom = simulate(steps, engine, load);
  for (size_t i = 1; i <= count; ++i) {
    plainUs += ttftUs(plain.requests[i]) / count;
    sumUs += ttftUs(seldom.requests[i]) / count;
  }
  EXPECT_NEAR(sumUs - plainUs, 700 + 1.5 * step.us, 0.3 * step.us);
  EXPECT_NEAR(engine.host.receivingUs(step.us), 1.5 * step.us, 1e-9);
}

/// The closed form against the engine itself: random loads below the room of
/// the caches, of which the first round comes at once.
TEST_F(SimulationTest, TheClosedFormIsNear) {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> part(0.8, 1);
  auto pick = [&](int64_t least, int64_t most) {
    return std::uniform_int_distribution<int64_t>(least, most)(random);
  };
  std::vector<double> ofTtft, ofTpot;
  for (int i = 0; i < 500; ++i) {
    runtime.fusesPrompts = pick(0, 1) == 1;
    runtime.cutsPrompts = pick(0, 1) == 1;
    // Requests do not come at the ends of steps.
    runtime.requestTimePerTokenUs.value = 5;
    int64_t concurrency = int64_t(1) << pick(0, 6);
    int64_t prompt = pick(100, 8000), answer = pick(200, 1200);
    StepPrices &steps = prices();
    SimulatedLoad load;
    load.concurrency = concurrency;
    for (int64_t one = 0; one < 10 * concurrency; ++one)
      load.requests.push_back(
          {0, static_cast<int64_t>(part(random) * double(prompt)),
           static_cast<int64_t>(part(random) * double(answer))});
    StepTime time;
    ASSERT_FALSE(steps.price({1, 100}, time));
    // At most nine tenths of the caches.
    if (double(concurrency * (prompt + answer)) > 0.9 * time.capacityTokens)
      continue;
    QueueModel server(program, machine, runtime);
    server.lay(makeLayout(8), /*replicas=*/1);
    SteadyState state;
    ASSERT_FALSE(server.timesOf(
        {concurrency, 0.9 * double(prompt), 0.9 * double(answer), 10}, state));
    SimulationResult result =
        simulate(steps, engineOf(runtime, time.capacityTokens, 1), load);
    ofTtft.push_back(state.ttftUs / meanTtftUs(result) - 1);
    ofTpot.push_back(state.tpotUs / meanTpotUs(result, load) - 1);
  }
  auto quantileOf = [](std::vector<double> errors, double share) {
    for (double &error : errors)
      error = std::abs(error);
    std::sort(errors.begin(), errors.end());
    return errors[static_cast<size_t>(share * double(errors.size() - 1))];
  };
  EXPECT_GT(ofTtft.size(), 400u);
  EXPECT_LT(quantileOf(ofTpot, 0.5), 0.01);
  EXPECT_LT(quantileOf(ofTpot, 0.9), 0.03);
  EXPECT_LT(quantileOf(ofTtft, 0.5), 0.05);
  EXPECT_LT(quantileOf(ofTtft, 0.9), 0.10);
  RecordProperty("tpot_p90", std::to_string(quantileOf(ofTpot, 0.9)));
  RecordProperty("ttft_p90", std::to_string(quantileOf(ofTtft, 0.9)));
}
