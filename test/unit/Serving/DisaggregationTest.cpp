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
using namespace autopar::test;

namespace {

struct DisaggregationTest : ServingTest {
  DisaggregationTest() {
    runtime.cutsPrompts = true;
    for (Server *server : {&prefill, &decode})
      server->lay(makeLayout(8), /*replicas=*/1);
  }
  DisaggregatedState serve(const Disaggregation &pools,
                           const ServedLoad &load) {
    DisaggregatedState served;
    EXPECT_FALSE(serveDisaggregated(prefill, decode, pools, load, served));
    return served;
  }

  Server prefill{program, machine, runtime}, decode{program, machine, runtime};
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
    EXPECT_NEAR(served.reading + 3 * served.state.running, double(concurrency),
                1e-2 * double(concurrency))
        << concurrency;
  }
}

/// Where one pool is too slow, more of the other help nothing.
TEST_F(DisaggregationTest, TheSlowerPoolSetsTheRate) {
  ServedLoad load{2048, 8000, 100};
  DisaggregatedState few = serve({1, 1}, load);
  EXPECT_TRUE(few.isPrefillBound());
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
