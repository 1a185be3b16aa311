//===- PlanTextTest.cpp ---------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Plan/PlanText.h"

#include <gtest/gtest.h>

using namespace autopar;
using namespace autopar::plan;

static Plan parse(const char *text) {
  Result<Plan> plan = parsePlanText(text);
  EXPECT_TRUE(plan) << text << ": " << plan.error().str();
  return plan ? *plan : Plan();
}

static std::string errorOf(const char *text) {
  Result<Plan> plan = parsePlanText(text);
  return plan ? "" : plan.error().str();
}

TEST(PlanText, ReadsDegrees) {
  EXPECT_EQ(meshText(parse("tp8")), "tp=8");
  EXPECT_EQ(meshText(parse("tp4,pp2,sp")), "pp=2,tp=4");
  EXPECT_EQ(meshText(parse("tp=8 dp=8 ep=64")),
            "dpo=1,dpi=8,tp=8,dp=dpo*dpi,ep=dpi*tp,edp=dpo");
  EXPECT_EQ(parse("tp8 dcp2").sizeOf("dcp"), 2);
  EXPECT_EQ(parse("tp8,attention_tp4").sizeOf("attention_tp"), 4);
  EXPECT_EQ(parse("tp?").sizeOf("tp"), std::nullopt);
}

TEST(PlanText, ReadsChoices) {
  Plan plan = parse("tp4, sp, dp2, fsdp, kv-dtype=fp8");
  EXPECT_TRUE(plan.sequenceParallel);
  EXPECT_TRUE(plan.fsdp);
  EXPECT_FALSE(plan.has(Degree::fsdp));
  Plan hybrid = parse("dp8,fsdp2");
  EXPECT_TRUE(hybrid.fsdp);
  EXPECT_EQ(meshText(hybrid), "dpo=4,dpi=2,dp=dpo*dpi,fsdp=dpi");
  EXPECT_FALSE(parse("dp8,fsdp2,zero=2").fsdp);
  EXPECT_EQ(plan.kvDtype, ElementType::fp8_e4m3);
  EXPECT_FALSE(parse("tp4,sp=false").sequenceParallel);
  Plan staged = parse("pp2,stages=0-3,4-7,microbatches=4");
  EXPECT_EQ(staged.pipeline.stages.size(), 2u);
  EXPECT_EQ(staged.pipeline.microbatches, 4);
  EXPECT_EQ(parse("cp2,cp-kind=all-to-all").contextKind,
            ContextKind::all_to_all);
}

TEST(PlanText, ReadsBackWhatItWrites) {
  for (const char *text :
       {"tp8", "pp2,tp4,sp", "tp8,dp8,ep64", "cp2,cp-kind=all_to_all",
        "tp8,dcp2", "dp4,fsdp", "dp8,fsdp2", "dp8,fsdp2,zero=1",
        "dp8,optimizer=adamw_8bit,zero=2,master-format=none,state-format=bf16",
        "pp4,stages=embedding,0-3,4-7,head", "tp8,attention-tp4", "tp?",
        "pp2,tp2,stages=0-3,4-7,microbatches=4", "tp8,kv-format=fp8",
        "tp8,ep4,etp1", "tp8,prefill-chunk=none",
        "tp2,dp4,ep4,etp2,memory-utilization=0.5"}) {
    std::optional<std::string> written = planText(parse(text));
    ASSERT_TRUE(written) << text;
    EXPECT_EQ(*written, text);
  }
}

TEST(PlanText, AMeshOfItsOwnHasNoWords) {
  Plan plan;
  plan.setAxis("rack", 2);
  EXPECT_EQ(planText(plan), std::nullopt);
}

TEST(PlanText, ErrorsNameTheWordAndWhere) {
  std::string error = errorOf("tp8,fsdb");
  EXPECT_EQ(error.substr(0, error.find('\n')),
            "plan 'tp8,fsdb', character 5: unknown word 'fsdb', did you mean "
            "'fsdp'?");
  EXPECT_EQ(errorOf("tp8, xx4").substr(0, 48),
            "plan 'tp8, xx4', character 6: unknown word 'xx4'");
  EXPECT_EQ(errorOf("tp"), "plan 'tp', character 1: expected a number of "
                           "devices behind 'tp', from 1 to 1073741824, found "
                           "''\n  note: for example tp8");
  EXPECT_EQ(errorOf("tp0").substr(0, 52),
            "plan 'tp0', character 1: expected a number of device");
  EXPECT_EQ(errorOf("tp8,tp4"),
            "plan 'tp8,tp4', character 5: 'tp' is given twice\n  note: between "
            "plans stands a semicolon, as in 'tp8; tp4,pp2'");
  EXPECT_EQ(errorOf("kv-dtype"), "plan 'kv-dtype', character 1: 'kv-dtype' "
                                 "needs a value\n  note: as in "
                                 "kv-dtype=format|auto");
  EXPECT_EQ(errorOf("dtype=int3").substr(0, 52),
            "plan 'dtype=int3', character 1: dtype=int3: expected");
  EXPECT_EQ(errorOf(""), "a plan has no words\n  note: for example 'tp8,sp'");
}

TEST(PlanText, SplitsSeveral) {
  using Texts = std::vector<std::string>;
  EXPECT_EQ(splitPlans("tp8; tp4,pp2,sp"), (Texts{"tp8", "tp4,pp2,sp"}));
  EXPECT_EQ(splitPlans("a.json,b.json"), (Texts{"a.json", "b.json"}));
  EXPECT_EQ(splitPlans("a.json; tp4,pp2;"), (Texts{"a.json", "tp4,pp2"}));
  EXPECT_EQ(splitPlans("tp8,sp"), (Texts{"tp8,sp"}));
  EXPECT_EQ(splitPlans(""), Texts());
}
