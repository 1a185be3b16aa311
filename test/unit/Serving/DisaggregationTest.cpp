//===- DisaggregationTest.cpp - Pools that read, pools that write ---------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fixture.h"

#include "autopar/Serving/Disaggregation.h"

#include <gtest/gtest.h>

using namespace autopar;
using namespace autopar::serving;
using namespace autopar::test;

namespace {

struct DisaggregationTest : ServingTest {
  DisaggregationTest() {
    runtime.cutsPrompts = true;
    for (QueueModel *server : {&prefill, &decode})
      server->lay(makeLayout(8), /*replicas=*/1);
  }
  DisaggregatedState serve(const Disaggregation &pools,
                           const ServedLoad &load) {
    DisaggregatedState served;
    EXPECT_FALSE(serveDisaggregated(prefill, decode, pools, load, served));
    return served;
  }

  QueueModel prefill{program, machine, runtime},
      decode{program, machine, runtime};
};

} // namespace

/// One request is either read or decoded, and waits for nobody.
TEST_F(DisaggregationTest, OneRequestWaitsForNobody) {
  DisaggregatedState served = serve({1, 1}, {1, 1000, 200});
  PromptPace pace;
  ASSERT_FALSE(prefill.paceOf({1, 1000, 200}, pace));
  EXPECT_NEAR(served.state.ttftUs, pace.oneUs, 1e-2 * pace.oneUs);
  double requestUs = served.state.ttftUs + 199 * served.state.tpotUs;
  EXPECT_NEAR(served.state.outputTokensPerSecond, 200e6 / requestUs,
              1e-3 * 200e6 / requestUs);
}

/// Requests are where they are: in one pool or the other.
TEST_F(DisaggregationTest, RequestsAreInOnePoolOrTheOther) {
  for (int64_t concurrency : {8, 64, 512}) {
    DisaggregatedState served = serve({2, 3}, {concurrency, 2000, 400});
    EXPECT_NEAR(served.prefilling + 3 * served.state.running,
                double(concurrency), 1e-2 * double(concurrency))
        << concurrency;
  }
}

/// Where one pool is too slow, more of the other help nothing.
TEST_F(DisaggregationTest, TheSlowerPoolSetsTheRate) {
  ServedLoad load{2048, 8000, 100};
  DisaggregatedState few = serve({1, 1}, load);
  EXPECT_LT(few.prefillMostPerS, few.decodeMostPerS);
  double rate = few.state.outputTokensPerSecond / 100;
  EXPECT_NEAR(rate, few.prefillMostPerS, 0.01 * rate);
  DisaggregatedState decoding = serve({1, 4}, load);
  EXPECT_NEAR(decoding.state.outputTokensPerSecond,
              few.state.outputTokensPerSecond, 0.01 * 100 * rate);
  DisaggregatedState reading = serve({2, 1}, load);
  EXPECT_GT(reading.state.outputTokensPerSecond, 1.9 * 100 * rate);
  // Few of them decode at once, whose steps are short.
  EXPECT_LT(few.state.tpotUs, serve({8, 1}, load).state.tpotUs);
}

/// So many a second, or more than they serve.
TEST_F(DisaggregationTest, ARateIsServedOrSaidToBeTooMuch) {
  ServedLoad load{0, 2000, 400};
  load.ratePerS = 1;
  DisaggregatedState served = serve({1, 1}, load);
  EXPECT_FALSE(served.state.isOverloaded);
  EXPECT_NEAR(served.state.outputTokensPerSecond, 400, 1);
  load.ratePerS = 1.1 * served.state.mostPerS;
  EXPECT_TRUE(serve({1, 1}, load).state.isOverloaded);
}

/// A pool that reads is a queue of prompts alone, one that decodes has no
/// prompts in its steps.
TEST_F(DisaggregationTest, OpenPoolsAreTheirParts) {
  ServedLoad load{0, 2000, 400};
  load.ratePerS = 1;
  load.hasSpread = true;
  DisaggregatedState served = serve({1, 1, /*transferUs=*/5000}, load);
  ServedLoad reading = load;
  reading.answerTokens = 1;
  SteadyState read;
  ASSERT_FALSE(prefill.timesOf(reading, read));
  EXPECT_NEAR(served.state.ttftUs, read.ttftUs + 5000, 1e-6 * read.ttftUs);
  EXPECT_NEAR(served.state.ttft.p99, read.ttft.p99 + 5000,
              0.02 * read.ttft.p99);
  EXPECT_EQ(served.prefillMostPerS, read.mostPerS);
  SteadyState one, all;
  ASSERT_FALSE(decode.stepAt(load, 1, one));
  ASSERT_FALSE(decode.stepAt(load, 1 + served.state.running, all));
  EXPECT_GE(served.state.tpotUs, one.decodeStepUs);
  EXPECT_NEAR(served.state.tpotUs, all.decodeStepUs, 0.01 * all.decodeStepUs);
  // Little's law.
  EXPECT_NEAR(served.state.running, 399 * served.state.tpotUs / 1e6,
              0.01 * served.state.running);
}

/// Prompts of a closed loop wait as those of an open one do, of as many a
/// second but for oneself; and more where there are more of them.
TEST_F(DisaggregationTest, ClosedLoopsQueueAsOpenOnesDo) {
  double before = 0;
  int compared = 0;
  for (int64_t concurrency : {1, 8, 16, 32, 64, 512}) {
    ServedLoad load{concurrency, 1000, 400};
    SteadyState closed = serve({1, 1, 2000}, load).state;
    load.ratePerS = closed.outputTokensPerSecond / 400;
    load.concurrency = 0;
    EXPECT_GE(closed.ttftUs, before) << concurrency;
    EXPECT_NEAR(closed.ttftUs, closed.firstToken.sum(), 1e-6);
    EXPECT_EQ(closed.firstToken.moveUs, 2000);
    before = closed.ttftUs;
    if (load.ratePerS > closed.mostPerS / 2)
      continue;
    SteadyState open = serve({1, 1, 2000}, load).state;
    EXPECT_LE(closed.ttftUs, 1.001 * open.ttftUs) << concurrency;
    EXPECT_EQ(closed.firstToken.prefillUs, open.firstToken.prefillUs);
    if (concurrency > 1)
      EXPECT_NEAR(closed.ttftUs, open.ttftUs, 0.05 * open.ttftUs)
          << concurrency;
    ++compared;
  }
  EXPECT_GE(compared, 3);
}

/// Of M/D/1: half as full, a half of the time of one waits.
TEST_F(DisaggregationTest, LinksAreQueues) {
  ServedLoad load{0, 100, 400};
  load.ratePerS = 2;
  DisaggregatedState alone = serve({1, 1, 50e3, 0}, load);
  DisaggregatedState shared = serve({1, 1, 50e3, 4}, load);
  EXPECT_NEAR(shared.state.ttftUs - alone.state.ttftUs, 25e3, 1);
  EXPECT_EQ(shared.state.mostPerS, 4);
  load.ratePerS = 5;
  EXPECT_TRUE(serve({1, 1, 50e3, 4}, load).state.isOverloaded);
}

/// Twice the workers serve twice the requests as fast.
TEST_F(DisaggregationTest, WorkersAreAlike) {
  ServedLoad load{0, 2000, 400};
  load.ratePerS = 2;
  load.hasSpread = true;
  DisaggregatedState one = serve({1, 1}, load);
  load.ratePerS = 6;
  DisaggregatedState three = serve({3, 3}, load);
  EXPECT_NEAR(three.state.ttftUs, one.state.ttftUs, 1e-6);
  EXPECT_NEAR(three.state.tpot.p99, one.state.tpot.p99, 1e-6);
  EXPECT_NEAR(three.state.mostPerS, 3 * one.state.mostPerS, 1e-6);
}
