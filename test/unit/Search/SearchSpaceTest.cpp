//===- SearchSpaceTest.cpp ------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Search/SearchSpace.h"

#include "autopar/Plan/NeutralAxes.h"
#include "autopar/Plan/PlanText.h"
#include "autopar/Plan/StrategyKey.h"

#include "gtest/gtest.h"

#include <set>

using namespace autopar;
using namespace autopar::plan;
using namespace autopar::schedule;
using namespace autopar::search;

namespace {

SearchSpace spaceOfText(const std::string &text) {
  Result<SearchSpace> space = parseSearchSpace(text);
  EXPECT_TRUE(space) << text;
  return space ? *space : SearchSpace();
}

std::string errorOf(const std::string &text) {
  Result<SearchSpace> space = parseSearchSpace(text);
  return space ? "" : space.error().str();
}

TEST(SearchSpaceTest, ReadsWhatItWrites) {
  for (const char *text :
       {"", "pp=1,tp=1..8", "tp=1|4..8,microbatches=2,sp=on,fsdp=off",
        "attention_tp=1,cp_kind=ring,redundant_experts=0|32,order=all"})
    EXPECT_EQ(spaceText(spaceOfText(text)), text);
  EXPECT_EQ(spaceText(spaceOfText("attention-tp=2 tp=any,sp=any")),
            "attention_tp=2");
}

TEST(SearchSpaceTest, ErrorsSayWhatWorks) {
  EXPECT_EQ(errorOf("tp=x"), "--space: tp=x: expected numbers, as in 8, 1..8, "
                             "1|2|4 or any");
  EXPECT_EQ(errorOf("tp=8..2").substr(0, 17), "--space: tp=8..2:");
  EXPECT_EQ(errorOf("tp=0").substr(0, 14), "--space: tp=0:");
  EXPECT_NE(errorOf("ordr=all").find("did you mean 'order'?"),
            std::string::npos);
  EXPECT_NE(errorOf("sp=maybe").find("on, off or any"), std::string::npos);
  EXPECT_NE(errorOf("tp").find("has no value"), std::string::npos);
  EXPECT_NE(errorOf("tp=1,tp=2").find("tp=1|2|4"), std::string::npos);
}

TEST(NumberSetTest, HasItsNumbers) {
  NumberSet set = *NumberSet::parse("2|8..16");
  EXPECT_FALSE(set.has(1));
  EXPECT_TRUE(set.has(2));
  EXPECT_TRUE(set.has(9));
  EXPECT_FALSE(set.has(17));
  EXPECT_EQ(set.divisorsOf(72), (std::vector<int64_t>{2, 8, 9, 12}));
  EXPECT_EQ(NumberSet().divisorsOf(int64_t(1) << 40).size(), 41u);
  EXPECT_TRUE(NumberSet().has(12345));
  EXPECT_EQ(NumberSet::of(4).str(), "4");
}

/// Sizes multiply to the devices, and are as the space has them.
TEST(SearchSpaceTest, SizesAreThoseOfTheDevices) {
  SearchSpace space = spaceOfText("tp=1..4,pp=1|2");
  int64_t count = 0;
  forEachSizes(space, 16, /*hasExperts=*/true, [&](const PlanSizes &sizes) {
    ++count;
    int64_t stage = sizes.stageDevices();
    EXPECT_EQ(sizes[Knob::pp] * stage, 16);
    EXPECT_LE(sizes[Knob::tp], 4);
    EXPECT_EQ(stage % (sizes[Knob::ep] * sizes[Knob::etp]), 0);
    EXPECT_EQ(sizes[Knob::tp] % sizes[Knob::attention_tp], 0);
    EXPECT_EQ(sizes[Knob::attention_tp] % sizes[Knob::dcp], 0);
    return true;
  });
  // By hand: parts of tp with parts of those (1, 3, 6 for tp 1, 2, 4) by cp (of
  // 16/tp and 8/tp: 5, 4, 3 and 4, 3, 2) by pairs of ep and etp (15 of 16
  // devices, 10 of 8).
  EXPECT_EQ(count, 15 * (1 * 5 + 3 * 4 + 6 * 3) + 10 * (1 * 4 + 3 * 3 + 6 * 2));
}

/// No two points of a space are one plan, and plans that flags can say are in
/// it: those that a loop over all flags makes, each once.
TEST(SearchSpaceTest, HasEachPlanOnce) {
  SearchSpace space;
  std::set<std::string> seen;
  forEachSizes(space, 8, /*hasExperts=*/true, [&](const PlanSizes &sizes) {
    for (const PlanChoice &choice : choicesOf(space, sizes)) {
      Result<Plan> plan = planOf(Plan(), sizes, choice);
      EXPECT_TRUE(plan) << plan.error().str();
      EXPECT_EQ(*plan->devices(), 8);
      EXPECT_TRUE(seen.insert(writePlan(*plan)).second) << writePlan(*plan);
    }
    return true;
  });
  auto divisors = [](int64_t value) {
    std::vector<int64_t> all;
    for (int64_t i = 1; i <= value; ++i)
      if (value % i == 0)
        all.push_back(i);
    return all;
  };
  std::set<std::string> flags;
  for (int64_t pp : divisors(8))
    for (int64_t tp : divisors(8 / pp))
      for (int64_t cp : divisors(8 / pp / tp))
        for (int64_t attentionTp : divisors(tp))
          for (int64_t dcp : divisors(attentionTp))
            for (int64_t ep : divisors(8 / pp))
              for (int64_t etp : divisors(8 / pp / ep))
                for (int choice = 0; choice < 8; ++choice) {
                  Degrees degrees{tp,  cp,  8 / pp / tp / cp, ep,
                                  etp, dcp, attentionTp};
                  // Experts split as dense layers need no ep.
                  if (ep == 1 && etp == tp)
                    degrees.ep = degrees.etp = std::nullopt;
                  Plan plan;
                  if (pp > 1)
                    plan.setAxis(Degree::pp, pp);
                  setMesh(plan, *planCanonicalMesh(degrees));
                  plan.sequenceParallel = choice & 1;
                  plan.fsdp = choice & 2;
                  plan.contextKind =
                      choice & 4 ? ContextKind::all_to_all : ContextKind::ring;
                  ASSERT_FALSE(completeDegrees(plan));
                  dropNeutralDegrees(plan);
                  dropNeutralAxes(plan);
                  flags.insert(writePlan(plan));
                }
  EXPECT_EQ(seen, flags);
}

TEST(SearchSpaceTest, SpaceOfAPlanHasThatPlan) {
  for (const char *text :
       {"tp8", "tp4,dp2,sp", "tp2,dp4,ep4,etp2,fsdp", "pp2,tp4,microbatches=4",
        "tp4,cp2,cp-kind=all_to_all", "tp8,attention-tp2,dcp2"}) {
    Plan plan = *parsePlanText(text);
    SearchSpace space = spaceOf(plan);
    int count = 0;
    forEachSizes(space, *plan.devices(), /*hasExperts=*/true,
                 [&](const PlanSizes &sizes) {
                   for (const PlanChoice &choice : choicesOf(space, sizes)) {
                     ++count;
                     EXPECT_EQ(strategyKeyOf(*planOf(Plan(), sizes, choice)),
                               strategyKeyOf(plan));
                   }
                   return true;
                 });
    EXPECT_EQ(count, 1) << text;
  }
}

/// What only training chooses between, and what it does not know.
TEST(SearchSpaceTest, SpacesOfTrainingHaveTheirChoices) {
  SearchSpace space = spaceOfText("tp=1|4,zero=1,recompute=none|full");
  EXPECT_TRUE(setTrains(space, false));
  EXPECT_FALSE(setTrains(space, true));
  std::set<std::string> keys;
  int64_t count = 0;
  forEachSizes(space, 4, /*hasExperts=*/false, [&](const PlanSizes &sizes) {
    EXPECT_EQ(sizes[Knob::attention_tp], sizes[Knob::tp]);
    EXPECT_EQ(sizes[Knob::dcp], 1);
    for (const PlanChoice &choice : choicesOf(space, sizes)) {
      ++count;
      EXPECT_EQ(PlanChoice::of(choice.code()).code(), choice.code());
      keys.insert(strategyKeyOf(*planOf(Plan(), sizes, choice)));
    }
    return true;
  });
  // By hand: of tp 4, with sp or not, and recompute: 4. Of tp 1, cp and dp
  // within stages of 4, 2 and 1 devices: of the 3 and 2 pairs of more than one,
  // recompute, with fsdp or zero over 2 or 4 and over 2 replicas: 8 and 4 each;
  // of 1 device, 2.
  EXPECT_EQ(count, 4 + 3 * 8 + 2 * 4 + 2);
  EXPECT_TRUE(keys.count("dp=dp recompute=full zero=1"));
  EXPECT_TRUE(keys.count("dp=dpo*dpi fsdp=dpi recompute=full zero=1"));
  // Where the space does not say: nothing, or, over some replicas, optimizers,
  // gradients, too.
  SearchSpace all = spaceOfText("tp=1,pp=1,cp=1,fsdp=off,recompute=full");
  EXPECT_FALSE(setTrains(all, true));
  forEachSizes(all, 4, /*hasExperts=*/false, [&](const PlanSizes &sizes) {
    std::set<int64_t> zeros;
    for (const PlanChoice &choice : choicesOf(all, sizes))
      zeros.insert(PlanChoice::of(choice.code()).zero);
    EXPECT_EQ(zeros, sizes[Knob::shard_fsdp] == 1 ? (std::set<int64_t>{0})
                                                  : (std::set<int64_t>{1, 2}));
    return true;
  });
  SearchSpace cached = spaceOfText("dcp=1");
  EXPECT_TRUE(setTrains(cached, true));
}

TEST(SearchSpaceTest, SpaceOfAPlanOfTrainingHasThatPlan) {
  Plan plan = *parsePlanText(
      "pp2,tp4,dp2,sp,interleave=3,micro-batch=2,recompute=full,zero=1");
  SearchSpace space = spaceOf(plan, /*trains=*/true);
  EXPECT_NE(spaceText(space).find("recompute=full"), std::string::npos);
  EXPECT_FALSE(setTrains(space, true));
  EXPECT_TRUE(space.microBatch.has(2));
  EXPECT_FALSE(space.microBatch.has(1));
  EXPECT_TRUE(space.interleave.has(3));
  EXPECT_EQ(space.schedules,
            (std::vector<ScheduleKind>{ScheduleKind::interleaved}));
  EXPECT_EQ(space.zero, (std::vector<int64_t>{1}));
  EXPECT_EQ(space[Knob::shard_fsdp].str(), "2");
  // Copies of copies.
  space = spaceOf(*parsePlanText("dp8,fsdp4"), /*trains=*/true);
  EXPECT_EQ(space[Knob::shard_fsdp].str(), "4");
  space = spaceOf(*parsePlanText("dp8,cp2"), /*trains=*/true);
  EXPECT_EQ(space[Knob::shard_fsdp].str(), "1");
}

/// Six experts on four devices: with two slots each 2 are copies, with three 6.
TEST(SearchSpaceTest, ExpertsWithLoadsHaveCopies) {
  auto copiesOf = [](const SearchSpace &space, int64_t ep) {
    PlanSizes sizes;
    sizes.fill(1);
    sizes[Knob::dp] = 8;
    sizes[Knob::ep] = ep;
    std::set<int64_t> copies;
    for (const PlanChoice &choice : choicesOf(space, sizes)) {
      EXPECT_EQ(PlanChoice::of(choice.code()).redundantExperts,
                choice.redundantExperts);
      copies.insert(choice.redundantExperts);
    }
    return copies;
  };
  SearchSpace space;
  EXPECT_EQ(copiesOf(space, 4), (std::set<int64_t>{0}));
  space.loadedExperts = 6;
  EXPECT_EQ(copiesOf(space, 1), (std::set<int64_t>{0}));
  EXPECT_EQ(copiesOf(space, 2), (std::set<int64_t>{0, 2, 4}));
  EXPECT_EQ(copiesOf(space, 4), (std::set<int64_t>{0, 2, 6}));
  EXPECT_EQ(copiesOf(space, 8), (std::set<int64_t>{0, 2}));
  space.redundantExperts = {2, 10};
  EXPECT_EQ(copiesOf(space, 4), (std::set<int64_t>{2, 10}));
}

TEST(SearchSpaceTest, OrdersAreOfAxes) {
  Plan plan = *parsePlanText("tp4,dp2");
  Plan turned = withOrder(plan, {1, 0});
  EXPECT_EQ(turned.axes.front().name, "tp");
  EXPECT_EQ(turned.strideOf("tp"), 2);
}

} // namespace
