//===- ProgramMeshTest.cpp ------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProgramMesh.h"

#include "autopar/Plan/StrategyKey.h"
#include "autopar/Support/Text.h"

#include "gtest/gtest.h"

using namespace autopar;
using namespace autopar::plan;
using namespace autopar::search;

namespace {

PlanSizes sizesOf(int64_t dp, int64_t tp, int64_t ep, int64_t etp) {
  PlanSizes sizes = {};
  sizes.fill(1);
  sizes[Knob::dp] = sizes[Knob::shard_fsdp] = dp;
  sizes[Knob::tp] = sizes[Knob::attention_tp] = tp;
  sizes[Knob::ep] = ep;
  sizes[Knob::etp] = etp;
  return sizes;
}

/// The key of the program, and which axis of the plan each of its axes is.
std::string meshOf(const PlanSizes &sizes, bool fsdp = false) {
  Result<Plan> plan = planOf(Plan(), sizes, {});
  if (!plan)
    return plan.error().str();
  ProgramMesh mesh = programMeshOf(*plan, Plan(), sizes, fsdp);
  std::vector<std::string> axes;
  for (std::optional<uint32_t> own : mesh.axisOf)
    axes.push_back(own ? plan->axes[*own].name : "one");
  return strategyKeyOfDistinct(mesh.plan) + ": " + join(axes, " ");
}

TEST(ProgramMeshTest, HasReplicasOfDenseModels) {
  EXPECT_EQ(meshOf(sizesOf(4, 8, 1, 8)), "tp=tp dp=dp: dp tp");
  EXPECT_EQ(meshOf(sizesOf(1, 8, 1, 8)), "tp=tp dp=dp: one tp");
}

TEST(ProgramMeshTest, HasReplicasThatExpertsAreSplitOver) {
  std::string whole = "tp=tp dp=dpo*dpi ep=dpi*tp etp= edp=dpo: ";
  EXPECT_EQ(meshOf(sizesOf(8, 4, 8, 1)), whole + "dpo dpi tp");
  EXPECT_EQ(meshOf(sizesOf(8, 4, 32, 1)), whole + "one dpi tp");
  EXPECT_EQ(meshOf(sizesOf(8, 4, 4, 1)), whole + "dpo one tp");
  EXPECT_EQ(meshOf(sizesOf(1, 4, 4, 1)), whole + "one one tp");
}

TEST(ProgramMeshTest, GathersNoCopiesThatAreNotThere) {
  EXPECT_EQ(meshOf(sizesOf(8, 4, 32, 1), /*fsdp=*/true),
            "tp=tp dp=dpi ep=dpi*tp etp= edp=: dpi tp");
}

TEST(ProgramMeshTest,
     ExpertsInsideOfTensorParallelismLeaveReplicasTheirCopies) {
  EXPECT_EQ(meshOf(sizesOf(1, 8, 2, 1)),
            "tp=tpo*tpi dp=dp ep=tpi etp= edp=dp*tpo: one tpo tpi");
}

} // namespace
