//===- NeutralAxesTest.cpp ------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Plan/NeutralAxes.h"

#include "Fixtures.h"

using namespace autopar;
using namespace autopar::plan;
using namespace autopar::test;

/// The mesh that passes see.
static std::string textOf(Plan plan) {
  dropNeutralDegrees(plan);
  dropNeutralAxes(plan);
  return meshText(plan);
}

static Plan parse(const char *text) {
  Result<MeshPlan> mesh = parseMesh(text);
  EXPECT_TRUE(mesh) << mesh.error().str();
  Plan plan = mesh ? Plan{mesh->axes, mesh->degrees} : Plan();
  EXPECT_FALSE(completeDegrees(plan));
  return plan;
}

static constexpr std::nullopt_t none = std::nullopt;

TEST(NeutralAxes, BasesOfOneDevice) {
  EXPECT_EQ(textOf(planOf({1, 1, 1})), "");
  EXPECT_EQ(textOf(planOf({8, 1, 1})), "tp=8");
  EXPECT_EQ(textOf(planOf({1, 4, 2})), "dp=2,cp=4");
  EXPECT_EQ(textOf(planOf({openDegree, 1, 2})), "dp=2,tp=?");
  EXPECT_EQ(textOf(parse("dp=1,tp=8,x=1")), "tp=8,x=1");
}

TEST(NeutralAxes, PartsThatCutNothingOff) {
  EXPECT_EQ(textOf(planOf({8, none, none, none, none, 1})), "tp=8");
  EXPECT_EQ(textOf(planOf({8, none, none, none, none, 1, 8})), "tp=8");
  EXPECT_EQ(textOf(planOf({8, none, none, none, none, none, 1})),
            "tpo=8,tpi=1,tp=tpo*tpi,attention_tp=tpi");
  EXPECT_EQ(textOf(planOf({8, none, none, none, none, 2, 8})),
            textOf(planOf({8, none, none, none, none, 2})));
  // They keep their names until then.
  Plan plan = planOf({8, none, none, none, none, 1, 8});
  EXPECT_EQ(plan.sizeOf(Degree::dcp), 1);
  EXPECT_EQ(plan.sizeOf(Degree::attention_tp), 8);
  EXPECT_TRUE(plan.has(Degree::dcp) && plan.has(Degree::attention_tp));
  EXPECT_EQ(
      planCanonicalMesh({none, none, none, none, none, 1}).error().message,
      "dcp is a part of tp: it needs tp");
}

TEST(NeutralAxes, PartsOfReplicas) {
  auto over = [](int64_t fsdp) {
    Degrees degrees{none, none, 8};
    degrees.fsdp = fsdp;
    Plan plan = planOf(degrees);
    plan.fsdp = true;
    plan.training.zero = 0;
    dropNeutralDegrees(plan);
    dropNeutralAxes(plan);
    return meshText(plan) + (plan.fsdp ? " fsdp" : "");
  };
  EXPECT_EQ(over(8), "dp=8 fsdp");
  EXPECT_EQ(over(1), "dp=8");
  EXPECT_EQ(over(2), "dpo=4,dpi=2,dp=dpo*dpi,fsdp=dpi fsdp");
  Plan plan = parse("dpo=4,dpi=1,fsdp=dpi");
  plan.training.zero = 2;
  dropNeutralDegrees(plan);
  dropNeutralAxes(plan);
  EXPECT_FALSE(plan.training.zero);
  EXPECT_EQ(meshText(plan), "dpo=4,dp=dpo");
}

TEST(NeutralAxes, Experts) {
  EXPECT_EQ(textOf(planOf({1, 1, 64, 64})), "dpi=64,dp=dpi,ep=dpi");
  EXPECT_EQ(textOf(planOf({8, none, 8, 64})), "dpi=8,tp=8,dp=dpi,ep=dpi*tp");
  EXPECT_EQ(textOf(planOf({1, none, 1, 1})), "");
  // Each device has all experts, whole.
  EXPECT_EQ(textOf(planOf({8, none, none, 1})),
            "tpo=8,tpi=1,tp=tpo*tpi,ep=tpi,edp=tpo");
  EXPECT_EQ(textOf(planOf({1, 1, 4, 1})), textOf(planOf({none, none, 4, 1})));
  Plan placed = planOf({1, none, 1, 1});
  placed.expertPlacement = ExpertPlan();
  EXPECT_EQ(textOf(placed), "dpi=1,dp=dpi,ep=dpi");
}

TEST(NeutralAxes, ChoicesAboutNothing) {
  Plan plan = planOf({1, 1, 1});
  plan.sequenceParallel = plan.fsdp = true;
  plan.contextKind = ContextKind::ring;
  plan.dispatchByNode = true;
  plan.dispatchDtype = ElementType::fp8_e4m3;
  dropNeutralDegrees(plan);
  EXPECT_EQ(dropNeutralAxes(plan),
            (std::vector<std::string>{"tp", "cp", "dp"}));
  EXPECT_FALSE(plan.sequenceParallel || plan.fsdp || plan.contextKind);
  EXPECT_FALSE(plan.dispatchByNode || plan.dispatchDtype);
  // Copies of experts are replicas as well.
  Plan experts = planOf({8, none, 1, 1});
  experts.fsdp = true;
  EXPECT_FALSE(checkChoices(experts));
  dropNeutralDegrees(experts);
  dropNeutralAxes(experts);
  EXPECT_TRUE(experts.fsdp);
  EXPECT_FALSE(checkChoices(experts));
}
