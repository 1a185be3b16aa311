//===- RequestKnobsTest.cpp -----------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Program/RequestKnobs.h"

#include <gtest/gtest.h>

using namespace autopar;
using namespace autopar::program;

static Requests oneAtATime() {
  Requests requests;
  requests.concurrency = 1;
  // A draft_cost needs drafts.
  requests.acceptance = {0.5};
  return requests;
}

TEST(RequestKnobsTest, NumbersGoBothWays) {
  for (const RequestKnob &knob : requestKnobs()) {
    std::vector<double> numbers = {knob.least};
    if (knob.isList)
      numbers.push_back((knob.least + knob.most) / 2);
    Requests requests = oneAtATime();
    knob.set(requests, numbers);
    EXPECT_EQ(knob.get(requests), numbers) << knob.key;
    EXPECT_FALSE(requests.verify()) << knob.key;
  }
}

TEST(RequestKnobsTest, NumbersOutOfRangeAreRefused) {
  for (const RequestKnob &knob : requestKnobs()) {
    for (double number : {knob.least - 0.25, knob.most + 0.25}) {
      EXPECT_FALSE(knob.has(number)) << knob.key;
      Requests requests = oneAtATime();
      knob.set(requests, {number});
      auto error = requests.verify();
      ASSERT_TRUE(error) << knob.key;
      EXPECT_EQ(error->message.find(knob.key), 0u) << error->message;
      EXPECT_NE(error->message.find(knob.range()), std::string::npos)
          << error->message;
    }
    EXPECT_EQ(knob.has(knob.most), !knob.isBelowMost) << knob.key;
  }
}
