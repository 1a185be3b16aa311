//===- PlanDegreesTest.cpp ------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Plan/Degrees.h"

#include <gtest/gtest.h>

using namespace autopar;
using namespace autopar::plan;

static Plan parse(const char *text) {
  Result<MeshPlan> mesh = parseMesh(text);
  EXPECT_TRUE(mesh) << mesh.error().str();
  return mesh ? Plan{mesh->axes, mesh->degrees} : Plan();
}

static std::string complete(const char *text) {
  Plan plan = parse(text);
  std::optional<Error> error = completeDegrees(plan);
  return error ? error->message : meshText(plan);
}

TEST(CompleteDegrees, AddsWhatFollows) {
  EXPECT_EQ(complete("pp=2,tp=8"), "pp=2,tp=8");
  EXPECT_EQ(complete("dpo=1,dpi=8,tp=8,ep=dpi*tp"),
            "dpo=1,dpi=8,tp=8,dp=dpo*dpi,ep=dpi*tp,edp=dpo");
  EXPECT_EQ(complete("dpo=?,dpi=?,tp=?,ep=dpi*tp"),
            "dpo=?,dpi=?,tp=?,dp=dpo*dpi,ep=dpi*tp,edp=dpo");
  // Names of the user's own.
  EXPECT_EQ(complete("x=2,y=4,dp=x,tp=y,ep=x*y"), "x=2,y=4,tp=y,dp=x,ep=x*y");
  EXPECT_EQ(complete("x=2,ep=4,dp=x*ep"), "x=2,ep=4,dp=x*ep,edp=x");
}

TEST(CompleteDegrees, RefusesWhatContradicts) {
  EXPECT_EQ(complete("ep=4,tp=8"),
            "axis 'ep' of ep is no part of tp, cp or dp");
  EXPECT_EQ(complete("x=4,tp=8,ep=x*tp"),
            "axis 'x' of ep is no part of tp, cp or dp");
  EXPECT_EQ(complete("dpo=2,dpi=2,ep=dpi,edp=dpi"),
            "axis 'dpi' is a part of both edp and ep");
  EXPECT_EQ(complete("a=2,b=4,c=2,tp=a*b,dp=c*b"),
            "axis 'b' is a part of both dp and tp");
  EXPECT_EQ(complete("dpo=2,dpi=2,tp=2,ep=dpi,edp=dpo"),
            "axis 'tp' is no part of etp, ep or edp");
  EXPECT_EQ(complete("dp=2,tp=2,etp=tp"), "etp needs ep");
  EXPECT_EQ(complete("tpo=2,tpi=2,dcp=tpo"),
            "dcp = tpo is no inner part of tp = tpo*tpi");
  EXPECT_EQ(complete("tpo=2,tpm=2,tpi=2,attention_tp=tpi,dcp=tpm*tpi"),
            "dcp = tpm*tpi is no inner part of attention_tp = tpi");
  EXPECT_EQ(complete("dpo=2,dpi=2,fsdp=dpo"),
            "fsdp = dpo is no inner part of dp*cp = dpo*dpi");
  EXPECT_EQ(complete("dpo=2,dpi=2,cp=2,fsdp=dpi"),
            "fsdp = dpi is no inner part of dp*cp = dpo*dpi*cp");
  EXPECT_EQ(complete("tp=2,ep=dp*tp"),
            "degree 'ep' has a factor 'dp', which is no axis");
  EXPECT_EQ(complete("tp=2,dp=tp*tp"), "degree 'dp' has the axis 'tp' twice");
  EXPECT_EQ(complete("tp=2,tp=tp"), "degree 'tp' has the name of an axis");
}

TEST(SetMesh, ReplacesTheStageAndKeepsTheRest) {
  auto set = [](const char *text, const Degrees &change) {
    Plan plan = parse(text);
    EXPECT_FALSE(completeDegrees(plan));
    Degrees degrees = degreesOf(plan);
    degrees.tp = change.tp ? change.tp : degrees.tp;
    degrees.ep = change.ep ? change.ep : degrees.ep;
    Result<MeshPlan> mesh = planMesh(degrees);
    EXPECT_TRUE(mesh);
    setMesh(plan, *mesh);
    return meshText(plan);
  };
  EXPECT_EQ(set("pp=4,tp=8", {2}), "pp=4,tp=2");
  EXPECT_EQ(set("tp=8,dp=4", {2}), "tp=2,dp=4");
  EXPECT_EQ(set("pp=4,dp=8,tp=8", {{}, {}, {}, 16}),
            "pp=4,dpo=4,dpi=2,tp=8,dp=dpo*dpi,ep=dpi*tp,edp=dpo");
  EXPECT_EQ(set("dpo=4,dpi=2,tp=8,ep=dpi*tp", {{}, {}, {}, 32}),
            "dpo=2,dpi=4,tp=8,dp=dpo*dpi,ep=dpi*tp,edp=dpo");
  EXPECT_EQ(set("tpo=4,pp=2,tp=8", {{}, {}, {}, 2}),
            "pp=2,tpo=4,tpi=2,tp=tpo*tpi,ep=tpi,edp=tpo");
}

TEST(CheckChoices, OfTrainingNeedTraining) {
  Plan plan;
  EXPECT_FALSE(checkTrainingChoices(plan, /*trains=*/false));
  plan.training.expertCapacityFactor = 1;
  EXPECT_FALSE(checkTrainingChoices(plan, /*trains=*/true));
  EXPECT_EQ(checkTrainingChoices(plan, /*trains=*/false)->message,
            "expert_capacity_factor is for training: serving drops no tokens, "
            "has no loss, and predicts further tokens by a draft");
  plan.training = {};
  plan.training.optimizer = Optimizer::sgd;
  EXPECT_EQ(checkTrainingChoices(plan, /*trains=*/false)->note,
            "give --phase=train as well");
  EXPECT_FALSE(checkTrainingChoices(plan, /*trains=*/true));
  plan.kvDtype = ElementType::fp8_e4m3;
  EXPECT_EQ(checkTrainingChoices(plan, /*trains=*/true)->note,
            "leave out --kv-format");
  plan.kvDtype.reset();
  plan.fsdp = true;
  plan.training.zero = 1;
  EXPECT_EQ(checkTrainingChoices(plan, /*trains=*/true)->note,
            "give --zero=1 or --fsdp, not both");
  plan = {};
  plan.training.expertCapacityFactor = 1;
  plan.training.padsExpertsToCapacity = true;
  EXPECT_FALSE(checkTrainingChoices(plan, /*trains=*/true));
  plan.training.expertCapacityFactor.reset();
  EXPECT_EQ(checkTrainingChoices(plan, /*trains=*/true)->message,
            "pad_experts_to_capacity needs a capacity to pad to");
  plan.training = {};
  plan.training.mtpLayers = 1;
  EXPECT_FALSE(checkTrainingChoices(plan, /*trains=*/true));
  plan.expertPlacement.emplace();
  EXPECT_TRUE(checkTrainingChoices(plan, /*trains=*/true));
}

TEST(CheckChoices, NameWhatIsMissing) {
  Plan plan = parse("tp=8");
  EXPECT_FALSE(checkChoices(plan));
  plan.fsdp = true;
  EXPECT_EQ(checkChoices(plan)->message,
            "fsdp splits parameters over the replicas, dp*cp: it needs dp or "
            "cp");
  plan.setAxis(Degree::cp, 2);
  plan.contextKind = ContextKind::ring;
  plan.sequenceParallel = true;
  EXPECT_FALSE(checkChoices(plan));
  plan = parse("dp=8");
  plan.contextKind = ContextKind::all_to_all;
  EXPECT_EQ(checkChoices(plan)->message, "context_kind = all_to_all is a kind "
                                         "of context parallelism: it needs cp");
  plan = parse("dp=8");
  plan.dispatchByNode = true;
  EXPECT_EQ(checkChoices(plan)->message,
            "dispatch_by_node is about tokens that expert parallelism sends: "
            "it needs ep");
}

TEST(Plan, ExpertsWithoutEpFollowDenseLayers) {
  Plan plan = parse("dp=2,cp=3,tp=8");
  EXPECT_EQ(plan.axesOf(Degree::etp), std::vector<std::string>{"tp"});
  EXPECT_EQ(plan.axesOf(Degree::edp), (std::vector<std::string>{"dp", "cp"}));
  EXPECT_EQ(plan.sizeOf(Degree::edp), 6);
  EXPECT_EQ(plan.sizeOf(Degree::ep), 1);
}
