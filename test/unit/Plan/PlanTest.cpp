//===- PlanTest.cpp -------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Plan/Plan.h"

#include <gtest/gtest.h>

using namespace autopar;
using namespace autopar::plan;

static Result<Plan> read(const std::string &text) {
  Result<JsonDocument> document = JsonDocument::parse(text, "plan.json");
  if (!document)
    return document.error();
  return readPlan(*document);
}

/// A plan with the given members beside its schema.
static Result<Plan> readMembers(const std::string &members) {
  return read(R"({"schema": "autopar.plan/1", )" + members + "}");
}

static std::string errorOf(const std::string &members) {
  Result<Plan> plan = readMembers(members);
  EXPECT_FALSE(plan) << members;
  return plan ? "" : plan.error().where + ": " + plan.error().message;
}

TEST(Plan, ReadsAllFields) {
  Result<Plan> plan = readMembers(
      R"("axes": [{"name": "dpi", "size": 4}, {"name": "tp"}],
         "degrees": {"ep": ["dpi", "tp"]}, "sequence_parallel": true,
         "fsdp": true, "context_kind": "all_to_all", "dtype": "bf16",
         "dispatch_by_node": true, "dispatch_dtype": "fp8",
         "kv_dtype": "fp8", "memory_utilization": 0.9)");
  ASSERT_TRUE(plan) << plan.error().str();
  ASSERT_EQ(plan->axes.size(), 2u);
  EXPECT_EQ(plan->axes[0].name, "dpi");
  EXPECT_EQ(plan->axes[0].size, 4);
  EXPECT_FALSE(plan->axes[1].size);
  EXPECT_FALSE(plan->devices());
  EXPECT_EQ(plan->axesOf("ep"), (std::vector<std::string>{"dpi", "tp"}));
  EXPECT_TRUE(plan->sequenceParallel);
  EXPECT_TRUE(plan->fsdp);
  EXPECT_EQ(plan->contextKind, ContextKind::all_to_all);
  EXPECT_TRUE(plan->dispatchByNode);
  EXPECT_EQ(plan->dispatchDtype, ElementType::fp8_e4m3);
  EXPECT_EQ(plan->kvDtype, ElementType::fp8_e4m3);
  EXPECT_EQ(plan->memoryUtilization, 0.9);
  plan->setAxis("tp", 8);
  EXPECT_EQ(plan->devices(), 32);
}

TEST(Plan, ReadsBackWhatItWrites) {
  Result<Plan> plan = readMembers(
      R"("axes": [{"name": "pp", "size": 2}, {"name": "tp"}],
         "degrees": {"ep": ["tp"]}, "sequence_parallel": true, "fsdp": true,
         "context_kind": "ring", "dispatch_by_node": true,
         "dispatch_dtype": "fp8", "kv_dtype": "fp8_e5m2")");
  ASSERT_TRUE(plan);
  std::string text = writePlan(*plan);
  Result<Plan> again = read(text);
  ASSERT_TRUE(again) << again.error().str();
  EXPECT_EQ(writePlan(*again), text);
  EXPECT_TRUE(read(writePlan(Plan())));
}

TEST(Plan, ReadsWhatExpertsTakeInTraining) {
  Result<Plan> plan = readMembers(
      R"("training": {"expert_capacity_factor": 1.25,
         "pad_experts_to_capacity": true, "mtp_layers": 1})");
  ASSERT_TRUE(plan) << plan.error().str();
  EXPECT_EQ(plan->training.expertCapacityFactor, 1.25);
  EXPECT_TRUE(plan->training.padsExpertsToCapacity);
  EXPECT_EQ(plan->training.mtpLayers, 1);
  Result<Plan> again = read(writePlan(*plan));
  ASSERT_TRUE(again) << again.error().str();
  EXPECT_EQ(writePlan(*again), writePlan(*plan));
  EXPECT_EQ(errorOf(R"("training": {"expert_capacity_factor": 0})"),
            "plan.json: /training/expert_capacity_factor: expected a number "
            "from 1e-06 to 1000, found 0");
}

TEST(Plan, RefusesWithLocation) {
  EXPECT_EQ(errorOf(R"("tp": 8)"), "plan.json: /tp: unknown field \"tp\"");
  EXPECT_EQ(errorOf(R"("axes": [{"name": "tp", "size": 0}])"),
            "plan.json: /axes/0/size: expected an integer from 1 to "
            "1073741824, found 0");
  EXPECT_EQ(errorOf(R"("axes": [{"name": "tp", "size": "8"}])"),
            "plan.json: /axes/0/size: expected an integer from 1 to "
            "1073741824, found \"8\"");
  EXPECT_EQ(errorOf(R"("axes": [{"name": "tp"}, {"name": "tp"}])"),
            "plan.json: /axes: axis 'tp' is given twice");
  EXPECT_EQ(errorOf(R"("axes": [{"name": "t p"}])"),
            "plan.json: /axes: axis name 't p' is not an identifier of 1 to "
            "32 letters, digits and '_'");
  EXPECT_EQ(errorOf(R"("axes": [{"name": "devices"}])"),
            "plan.json: /axes: axis name 'devices' is reserved");
  EXPECT_EQ(errorOf(R"("axes": [{"name": "a", "size": 1073741824},
                                {"name": "b", "size": 2}])"),
            "plan.json: /axes: the mesh has more than 1,073,741,824 devices");
  EXPECT_EQ(errorOf(R"("axes": {})"),
            "plan.json: /axes: expected an array, found an object");
  EXPECT_EQ(errorOf(R"("degrees": {"ep": ["tp"]})"),
            "plan.json: /degrees/ep/0: the plan has no axis 'tp'");
  EXPECT_EQ(errorOf(R"("axes": [{"name": "tp"}], "degrees": {"tp": []})"),
            "plan.json: /degrees/tp: degree 'tp' has the name of an axis");
  EXPECT_EQ(errorOf(R"("dtype": "bf17")"),
            "plan.json: /dtype: expected bf16, fp16, fp32, fp8 (fp8_e4m3), "
            "fp8_e5m2, found \"bf17\"");
  EXPECT_EQ(
      errorOf(R"("memory_utilization": 1.5)"),
      "plan.json: /memory_utilization: expected a number from 1e-06 to 1, "
      "found 1.5");
}

TEST(Plan, RefusesOtherFormats) {
  EXPECT_EQ(read(R"({"axes": []})").error().message,
            "missing field \"schema\"");
  EXPECT_EQ(read(R"({"schema": "autopar.plan/2"})").error().message,
            "expected \"autopar.plan/1\", found \"autopar.plan/2\"");
  EXPECT_EQ(read("[]").error().message, "expected an object, found an array");
}

TEST(Mesh, Parses) {
  Result<MeshPlan> mesh = parseMesh("pp=4,tp=?,ep=pp*tp");
  ASSERT_TRUE(mesh);
  ASSERT_EQ(mesh->axes.size(), 2u);
  EXPECT_EQ(mesh->axes[0].name, "pp");
  EXPECT_EQ(mesh->axes[0].size, 4);
  EXPECT_EQ(mesh->axes[1].name, "tp");
  EXPECT_FALSE(mesh->axes[1].size);
  ASSERT_EQ(mesh->degrees.size(), 1u);
  EXPECT_EQ(mesh->degrees[0].axes, (std::vector<std::string>{"pp", "tp"}));
  EXPECT_EQ(meshText({mesh->axes, mesh->degrees}), "pp=4,tp=?,ep=pp*tp");
}

TEST(Mesh, RefusesWhatIsNotOne) {
  for (const char *text :
       {"", "tp", "tp=", "tp=0", "tp=-1", "tp=8x", "tp=8,", "=8", "tp=8,tp=4",
        "axes=8", "tp=99999999999999999999", "a=1073741824,b=2", "t/p=8",
        "tp=8,ep=tp*", "tp=8,ep=*tp", "tp=8,axes=tp", "tp=8,ep=tp*8",
        "tp=8,ep=tp,ep=tp"})
    EXPECT_FALSE(parseMesh(text)) << text;
  EXPECT_EQ(parseMesh("tp=0").error().message,
            "size of mesh axis 'tp' is not an integer from 1 to 1073741824 or "
            "'?', found '0'");
}
