//===- RequestTraceTest.cpp -----------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Program/RequestTrace.h"

#include <gtest/gtest.h>

using namespace autopar;
using namespace autopar::program;

namespace {

std::vector<Request> read(const std::string &text) {
  auto trace = parseRequestTrace(text, "t");
  EXPECT_TRUE(trace) << trace.error().str();
  return trace ? *trace : std::vector<Request>();
}

std::string errorOf(const std::string &text) {
  auto trace = parseRequestTrace(text, "t");
  return trace ? "no error" : trace.error().str();
}

TEST(RequestTrace, ArrivalsAreSortedAndBeginAtNothing) {
  std::vector<Request> trace = read("arrival,input,output\n7.5,3,4\n5,1,2\n");
  ASSERT_EQ(trace.size(), 2u);
  EXPECT_EQ(trace[0].arrivalUs, 0);
  EXPECT_EQ(trace[0].promptTokens, 1);
  EXPECT_EQ(trace[1].arrivalUs, 2.5e6);
  EXPECT_EQ(trace[1].answerTokens, 4);
}

TEST(RequestTrace, UnitsAreThoseOfTheName) {
  EXPECT_EQ(read("arrival_ms,input,output\n0,1,1\n5,1,1\n")[1].arrivalUs, 5e3);
  EXPECT_EQ(read("arrival_us,input,output\n0,1,1\n5,1,1\n")[1].arrivalUs, 5);
  // BurstGPT's stamps are seconds, Mooncake's milliseconds.
  EXPECT_EQ(read("Timestamp,Model,Request tokens,Response tokens\n"
                 "0,ChatGPT,1,1\n5,GPT-4,1,1\n")[1]
                .arrivalUs,
            5e6);
  EXPECT_EQ(read("{\"timestamp\": 0, \"input_length\": 1, "
                 "\"output_length\": 1}\n{\"timestamp\": 5, "
                 "\"input_length\": 1, \"output_length\": 1}\n")[1]
                .arrivalUs,
            5e3);
}

TEST(RequestTrace, DatesHaveFractionsAndNoZoneButUtc) {
  auto second = [](const std::string &first, const std::string &next) {
    return read("TIMESTAMP,ContextTokens,GeneratedTokens\n" + first + ",1,1\n" +
                next + ",1,1\n")[1]
        .arrivalUs;
  };
  EXPECT_NEAR(second("2023-11-16 18:15:46.6805900", "2023-11-16 18:15:47"),
              319410, 1);
  // Over a day of a leap year.
  EXPECT_EQ(second("2024-02-28T23:59:59Z", "2024-02-29T00:00:01+00:00"), 2e6);
  EXPECT_EQ(errorOf("arrival,input,output\n2024-02-28 10:00:00+02:00,1,1\n"),
            "t:2: arrival is \"2024-02-28 10:00:00+02:00\": expected a time "
            "from 0, or a date as 2023-11-16 18:15:46.68");
}

TEST(RequestTrace, OnlyPrefixesAreCached) {
  auto line = [](const std::string &hashes) {
    return "{\"timestamp\": 0, \"input_length\": 1400, \"output_length\": 1, "
           "\"hash_ids\": " +
           hashes + "}\n";
  };
  std::vector<Request> trace = read(line("[1, 2, 3]") + line("[1, 2, 4]") +
                                    line("[9, 2, 3]") + line("[1, 2, 3]"));
  std::vector<int64_t> cached;
  for (const Request &request : trace)
    cached.push_back(request.cachedTokens);
  // The last block is not full: 1,400 tokens are never all there.
  EXPECT_EQ(cached, (std::vector<int64_t>{0, 1024, 0, 1399}));
}

TEST(RequestTrace, ErrorsAreLocated) {
  EXPECT_EQ(errorOf("input,output\n1,1\n").substr(0, 39),
            "t: no column says when each came\n  note");
  EXPECT_EQ(errorOf("arrival,input,output\n0,1,1\n-1,1,1\n").substr(0, 20),
            "t:3: arrival is \"-1\"");
  EXPECT_EQ(errorOf("arrival,input,output\n0,1.5,1\n"),
            "t:2: input is \"1.5\": expected tokens, at least 1");
}

TEST(RequestTrace, MeansAreThoseOfTheTrace) {
  std::vector<Request> trace = read("arrival,input,output\n0,100,1\n1,300,5\n"
                                    "4,200,3\n");
  trace[1].cachedTokens = 150;
  Requests asked = requestsOf(trace);
  EXPECT_DOUBLE_EQ(asked.ratePerS, 0.5);
  EXPECT_DOUBLE_EQ(asked.prompt.mean(), 200);
  EXPECT_DOUBLE_EQ(asked.answer.mean(), 3);
  EXPECT_DOUBLE_EQ(asked.cachedShare, 0.25);
  EXPECT_FALSE(asked.verify());
  EXPECT_FALSE(requestsOf({{0, 5, 5}}).verify());
}

TEST(RequestTrace, DrawnRequestsFollowTheirLaws) {
  Requests asked;
  asked.ratePerS = 50;
  asked.prompt = *TokenLengths::parse("uniform:100..300");
  asked.answer = *TokenLengths::parse("7");
  asked.cachedShare = 0.5;
  std::vector<Request> drawn = drawRequests(asked, 20000, /*seed=*/3);
  double tokens = 0, cached = 0;
  for (const Request &request : drawn) {
    tokens += double(request.promptTokens);
    cached += double(request.cachedTokens);
  }
  EXPECT_NEAR(drawn.back().arrivalUs, 20000 / 50.0 * 1e6, 5e6);
  EXPECT_NEAR(tokens / 20000, 200, 2);
  EXPECT_NEAR(cached / tokens, 0.5, 0.01);
  EXPECT_EQ(drawRequests(asked, 5, 3)[4].arrivalUs, drawn[4].arrivalUs);
  asked.ratePerS = 0;
  asked.concurrency = 4;
  EXPECT_EQ(drawRequests(asked, 5, 3)[4].arrivalUs, 0);
}

} // namespace
