//===- StrategyKeyTest.cpp ------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Plan/StrategyKey.h"

#include "Fixtures.h"
#include "autopar/Plan/DeviceOrder.h"

#include <set>

using namespace autopar;
using namespace autopar::plan;
using namespace autopar::test;

static constexpr std::nullopt_t none = std::nullopt;

TEST(StrategyKey, NamesAxesAndChoices) {
  EXPECT_EQ(strategyKeyOf(Plan()), "");
  Plan plan = planOf({8, none, 16, 64});
  EXPECT_EQ(strategyKeyOf(plan), "tp=tp dp=dpo*dpi ep=dpi*tp etp= edp=dpo");
  plan.sequenceParallel = true;
  plan.kvDtype = ElementType::fp8_e4m3;
  EXPECT_EQ(strategyKeyOf(plan),
            "tp=tp dp=dpo*dpi ep=dpi*tp etp= edp=dpo shard-sp=true "
            "kv-format=fp8");
}

TEST(StrategyKey, KnowsNeitherSizesNorOrder) {
  EXPECT_EQ(strategyKeyOf(planOf({8, 2, 4})), strategyKeyOf(planOf({2, 8, 2})));
  EXPECT_EQ(strategyKeyOf(planOf({openDegree, none, none})),
            strategyKeyOf(planOf({4, none, none})));
  Plan plan = planOf({4, none, 2}), mapped = plan;
  ASSERT_FALSE(mapAxes(mapped, "tp,dp"));
  EXPECT_EQ(strategyKeyOf(plan), strategyKeyOf(mapped));
}

TEST(StrategyKey, HasOneSpelling) {
  Plan neutral = planOf({8, 1, 1, none, none, 1, 8});
  neutral.fsdp = true;
  neutral.contextKind = ContextKind::all_to_all;
  neutral.dispatchByNode = true;
  EXPECT_EQ(strategyKeyOf(neutral), "tp=tp");
  Plan ring = planOf({none, 4, none}), other = ring;
  other.contextKind = ContextKind::all_to_all;
  EXPECT_NE(strategyKeyOf(ring), strategyKeyOf(other));
}

// The default kind depends on the phase, which is in the module.
TEST(StrategyKey, TellsEachKindOfContextFromTheDefault) {
  Plan plan = planOf({none, 4, none});
  std::set<std::string> keys = {strategyKeyOf(plan)};
  for (ContextKind kind :
       {ContextKind::ring, ContextKind::all_to_all, ContextKind::all_gather}) {
    plan.contextKind = kind;
    EXPECT_TRUE(keys.insert(strategyKeyOf(plan)).second);
  }
}

TEST(StrategyKey, KnowsWhatExpertsTake) {
  Plan plan = planOf({none, none, 8, 8}), other = plan;
  other.training.expertCapacityFactor = 1.25;
  EXPECT_NE(strategyKeyOf(plan), strategyKeyOf(other));
  plan.training.expertCapacityFactor = 1.5;
  EXPECT_NE(strategyKeyOf(plan), strategyKeyOf(other));
  plan = other;
  plan.training.padsExpertsToCapacity = true;
  EXPECT_NE(strategyKeyOf(plan), strategyKeyOf(other));
  plan = other;
  plan.training.mtpLayers = 1;
  EXPECT_NE(strategyKeyOf(plan), strategyKeyOf(other));
}

TEST(StrategyKey, KnowsHowTokensTravel) {
  Plan plan = planOf({none, none, 8, 8}), other = plan;
  other.dispatchByNode = true;
  EXPECT_NE(strategyKeyOf(plan), strategyKeyOf(other));
  plan.dispatchByNode = true;
  EXPECT_EQ(strategyKeyOf(plan), strategyKeyOf(other));
  other.dispatchDtype = ElementType::fp8_e4m3;
  EXPECT_NE(strategyKeyOf(plan), strategyKeyOf(other));
}
