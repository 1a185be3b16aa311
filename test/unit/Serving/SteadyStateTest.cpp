//===- SteadyStateTest.cpp - Engines under constant load ------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fixture.h"

#include "autopar/Serving/QueueModel.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace autopar;
using namespace autopar::cost;
using namespace autopar::hardware;
using namespace autopar::program;
using namespace autopar::serving;
using namespace autopar::test;

namespace {

struct SteadyStateTest : ServingTest {

  /// Microseconds of one step of the plain program.
  double stepUs(const Workload &workload) {
    Pricer pricer(program.step(), machine, runtime);
    double outputs[stepOutputCount];
    EXPECT_FALSE(pricer.lay(makeLayout(8)));
    EXPECT_FALSE(pricer.price(pointOf(workload), outputs));
    return outputs[0] / 1e6;
  }
};

} // namespace

/// Nobody else's prompt delays it: the tokens of one request take decode steps
/// at the mean context, 1000 + 200 / 2.
TEST_F(SteadyStateTest, OneRequestWaitsForNobody) {
  SteadyState state = serve({1, 1000, 200});
  EXPECT_EQ(state.running, 1);
  EXPECT_NEAR(state.tpotUs, stepUs(decode(1, 1100)), 1e-6);
  EXPECT_NEAR(state.ttftUs, state.promptStepUs, 1e-9);
  EXPECT_FALSE(state.isCacheFull);
}

/// 4 ms, 5 us for each of 1,000 tokens, and 63 others, each of which answers
/// for most of the time; ten tokens are sent together, and requests are looked
/// for every third step.
TEST_F(SteadyStateTest, FirstTokensHaveParts) {
  SteadyState plain = serve({64, 1000, 200});
  EXPECT_EQ(plain.firstToken.hostUs + plain.firstToken.sendUs, 0);
  runtime.requestTimeUs.value = 4000;
  runtime.requestTimePerTokenUs.value = 5;
  runtime.requestTimePerStreamUs.value = 100;
  runtime.streamInterval.value = 10;
  runtime.receiveInterval.value = 3;
  SteadyState state = serve({64, 1000, 200});
  const FirstTokenParts &parts = state.firstToken, &before = plain.firstToken;
  EXPECT_EQ(state.tpotUs, plain.tpotUs);
  EXPECT_EQ(parts.prefillUs, before.prefillUs);
  double answerUs = 199 * state.tpotUs;
  double readUs = before.prefillUs + before.stepUs;
  EXPECT_NEAR(parts.hostUs, 9000 + 6300 * answerUs / (answerUs + readUs), 1e-6);
  EXPECT_NEAR(parts.stepUs, before.stepUs + state.decodeStepUs, 1e-6);
  EXPECT_NEAR(parts.sendUs, 9 * state.tpotUs, 1e-6);
  EXPECT_NEAR(state.ttftUs, parts.sum(), 1e-6);
  // One request meets no step of others: it is read, and waits for the host.
  SteadyState one = serve({1, 1000, 200});
  EXPECT_NEAR(one.ttftUs, 9000 + one.promptStepUs + 9 * one.tpotUs, 1e-6);
  // It ends with its last token, however it is sent.
  double endUs = 9000 + one.promptStepUs + 199 * one.tpotUs;
  EXPECT_NEAR(one.outputTokensPerSecond, 1e6 * 200 / endUs, 1e-6);
}

/// While a request answers 200 tokens, 63 others are replaced once each.
TEST_F(SteadyStateTest, PromptsOfOthersInterrupt) {
  SteadyState state = serve({64, 1000, 200});
  EXPECT_EQ(state.running, 64);
  // Of Poisson's law with 64 / 200 in a step, where there is any.
  double prompts = 0.32 / (1 - std::exp(-0.32));
  EXPECT_NEAR(state.promptsPerStep, prompts, 1e-12);
  double added = (state.promptStepUs - state.decodeStepUs) / prompts;
  EXPECT_NEAR(state.tpotUs, state.decodeStepUs + (64 - prompts) / 200 * added,
              1e-6);
  // A mixed step reads weights once.
  EXPECT_LT(state.promptStepUs, state.decodeStepUs + stepUs(prefill(1, 1000)));
}

TEST_F(SteadyStateTest, WhoAlternatesPaysForWeightsTwice) {
  SteadyState fused = serve({64, 1000, 200});
  runtime.fusesPrompts = false;
  SteadyState alternating = serve({64, 1000, 200});
  // In the mean 1.17 prompts: of 100 such steps, 17 have two.
  double share = alternating.promptsPerStep - 1;
  EXPECT_NEAR(alternating.promptStepUs,
              (1 - share) * stepUs(prefill(1, 1000)) +
                  share * stepUs(prefill(2, 1000)),
              1e-6);
  EXPECT_GT(alternating.tpotUs, fused.tpotUs);
}

/// Many short answers: 256 / 32 prompts come in each step, which hold 8 of
/// them.
TEST_F(SteadyStateTest, PromptsAreBatchedWithinTheBudget) {
  EXPECT_NEAR(serve({256, 1000, 32}).promptsPerStep, 8, 0.003);
  runtime.tokenBudget.value = 3500;
  EXPECT_EQ(serve({256, 1000, 32}).promptsPerStep, 3);
  runtime.tokenBudget.value = 500;
  EXPECT_EQ(serve({256, 1000, 32}).promptsPerStep, 1);
}

/// Requests of few tokens, where prompts in a step go from one to many: no more
/// of them make a token much quicker.
TEST_F(SteadyStateTest, TimesHaveNoSteps) {
  double before = 0;
  for (int64_t requests = 1; requests <= 64; ++requests) {
    double tpotUs = serve({requests, 300, 8}).tpotUs;
    EXPECT_GT(tpotUs, 0.97 * before) << requests;
    before = tpotUs;
  }
}

TEST_F(SteadyStateTest, CachesBoundWhatRuns) {
  SteadyState state = serve({100000, 20000, 1000});
  EXPECT_TRUE(state.isCacheFull);
  // In the mean a half of an answer is there.
  EXPECT_EQ(state.running, std::floor(state.capacityTokens / 20500));
  EXPECT_GT(state.ttftUs, 1000 * state.tpotUs);
  runtime.reservesAnswers = true;
  EXPECT_EQ(serve({100000, 20000, 1000}).running,
            std::floor(state.capacityTokens / 21000));
  runtime.maxSequences.value = 2;
  EXPECT_EQ(serve({100000, 20000, 1000}).running, 2);
}

/// Of one token each, nobody waits for a second one.
TEST_F(SteadyStateTest, AnswersOfOneTokenHaveARate) {
  SteadyState state = serve({64, 100, 1});
  EXPECT_GT(state.outputTokensPerSecond, 0);
}

TEST_F(SteadyStateTest, ARequestThatDoesNotFitIsRefused) {
  QueueModel server(program, machine, runtime);
  server.lay(makeLayout(8), /*replicas=*/1);
  SteadyState state;
  EXPECT_EQ(server.timesOf({1, 1e8, 1000}, state).kind,
            ServingRefusal::Kind::capacity);
}

/// What a step with prompts costs beside its price.
TEST_F(SteadyStateTest, PromptStepsHaveTheirOwnTerms) {
  SteadyState plain = serve({64, 1000, 200});
  runtime.promptStepUs.value = 5000;
  SteadyState later = serve({64, 1000, 200});
  EXPECT_NEAR(later.promptStepUs, plain.promptStepUs + 5000, 1e-6);
  EXPECT_EQ(later.decodeStepUs, plain.decodeStepUs);
  runtime.promptStepShare.value = 0.5;
  EXPECT_NEAR(serve({64, 1000, 200}).promptStepUs,
              plain.promptStepUs / 2 + 5000, 1e-6);
}

/// 32 prompts of 1,000 tokens in 4 steps of 8, then 99 steps.
TEST_F(SteadyStateTest, AStaticBatchRunsFromStartToEnd) {
  QueueModel server(program, machine, runtime);
  server.lay(makeLayout(8), /*replicas=*/1);
  double rate = 0;
  EXPECT_FALSE(server.runBatch({32, 1000, 100}, rate));
  double us = 4 * stepUs(prefill(8, 1000)) + 99 * stepUs(decode(32, 1050));
  EXPECT_NEAR(rate, 1e6 * 32 * 100 / us, 1e-6 * rate);
}

/// Steps verify drafts: they take longer, and there are fewer of them.
TEST_F(SteadyStateTest, DraftsAreVerifiedTogether) {
  Requests asked;
  asked.concurrency = 1;
  asked.prompt = *TokenLengths::parse("1000");
  asked.answer = *TokenLengths::parse("200");
  asked.acceptance = {0.8, 0.5};
  asked.draftCost = 0;
  ServedLoad load = ServedLoad::of(asked);
  EXPECT_DOUBLE_EQ(load.tokensPerStep, 1 + 0.8 + 0.8 * 0.5);
  SteadyState drafted = serve(load);
  StepPrices prices(program, machine, runtime);
  prices.lay(makeLayout(8), /*replicas=*/1);
  StepTime plain, three;
  ASSERT_FALSE(prices.price({1, 1100}, plain));
  StepLoad step{1, 1100};
  step.drafts = 2;
  ASSERT_FALSE(prices.price(step, three));
  // One reads the weights for three tokens.
  EXPECT_GT(three.us, plain.us);
  EXPECT_LT(three.us, 1.2 * plain.us);
  EXPECT_DOUBLE_EQ(drafted.tpotUs, three.us / 2.2);
  // A draft takes a tenth of a plain step.
  load.draftCost = 0.1;
  EXPECT_NEAR(serve(load).tpotUs, (three.us + 0.2 * plain.us) / 2.2,
              1e-9 * plain.us);
  // Of an open loop that is nearly idle, too.
  load.draftCost = 0;
  load.concurrency = 0;
  load.ratePerS = 1e-3;
  EXPECT_NEAR(serve(load).tpotUs, drafted.tpotUs, 0.01 * drafted.tpotUs);
}
