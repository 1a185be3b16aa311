//===- DeviceOrderTest.cpp ------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Plan/DeviceOrder.h"

#include "autopar/Plan/Degrees.h"

#include <gtest/gtest.h>

#include <algorithm>

using namespace autopar;
using namespace autopar::plan;

using Groups = std::vector<std::vector<int64_t>>;

static Plan parse(const char *text) {
  Result<MeshPlan> mesh = parseMesh(text);
  EXPECT_TRUE(mesh) << mesh.error().str();
  Plan plan = mesh ? Plan{mesh->axes, mesh->degrees} : Plan();
  EXPECT_FALSE(completeDegrees(plan));
  return plan;
}

/// The axes after `order`, or why not.
static std::string map(const char *text, const char *order) {
  Plan plan = parse(text);
  std::optional<Error> error = mapAxes(plan, order);
  EXPECT_FALSE(completeDegrees(plan));
  if (error)
    return error->message + "; " + error->note;
  plan.degrees.clear();
  return meshText(plan);
}

static Groups groups(const Plan &plan, std::string_view name) {
  Result<Groups> listed = listGroups(plan, name);
  EXPECT_TRUE(listed) << listed.error().str();
  return listed ? *listed : Groups();
}

TEST(MapAxes, OrdersWhatIsNamed) {
  EXPECT_EQ(map("pp=2,dp=4,tp=8", "tp,dp"), "pp=2,tp=8,dp=4");
  EXPECT_EQ(map("pp=2,dp=4,cp=2,tp=8", "tp,dp"), "pp=2,cp=2,tp=8,dp=4");
  EXPECT_EQ(map("pp=2,dp=4,tp=8", "pp"), "dp=4,tp=8,pp=2");
  EXPECT_EQ(map("dpo=2,dpi=4,tp=8,ep=dpi*tp", "tp,dp"), "tp=8,dpo=2,dpi=4");
  EXPECT_EQ(map("dpo=2,dpi=4,tp=8,ep=dpi*tp", "ep,dpo"), "dpi=4,tp=8,dpo=2");
  EXPECT_EQ(map("dpo=?,dpi=4,tp=8", "dpi,tp,dpo"), "dpi=4,tp=8,dpo=?");
}

TEST(MapAxes, RefusesWithTheList) {
  EXPECT_EQ(map("pp=2,dpi=4,tp=8", "tp,ep"),
            "the plan has no axis or degree 'ep'; it has pp, dpi, tp, dp");
  EXPECT_EQ(map("tp=8", "tp,"), "the plan has no axis or degree ''; it has tp");
  EXPECT_EQ(map("dpo=2,dpi=4,tp=8", "dp,dpi"),
            "axis 'dpi' is named twice; name every axis once, outermost first, "
            "as in 'tp,dp'");
  Plan none;
  EXPECT_EQ(mapAxes(none, "tp")->note, "it has none");
}

TEST(ListGroups, ByHand) {
  Plan plan = parse("dp=2,cp=2,tp=2");
  EXPECT_EQ(plan.strideOf("dp"), 4);
  EXPECT_EQ(plan.strideOf("tp"), 1);
  EXPECT_EQ(groups(plan, "tp"), (Groups{{0, 1}, {2, 3}, {4, 5}, {6, 7}}));
  EXPECT_EQ(groups(plan, "cp"), (Groups{{0, 2}, {1, 3}, {4, 6}, {5, 7}}));
  EXPECT_EQ(groups(plan, "dp"), (Groups{{0, 4}, {1, 5}, {2, 6}, {3, 7}}));
  EXPECT_EQ(groups(plan, "edp"), (Groups{{0, 2, 4, 6}, {1, 3, 5, 7}}));
  ASSERT_FALSE(mapAxes(plan, "tp,dp"));
  EXPECT_EQ(groups(plan, "tp"), (Groups{{0, 2}, {1, 3}, {4, 6}, {5, 7}}));
  Plan experts = parse("dpo=2,dpi=2,tp=2,ep=dpi*tp");
  EXPECT_EQ(groups(experts, "ep"), (Groups{{0, 1, 2, 3}, {4, 5, 6, 7}}));
  EXPECT_EQ(groups(experts, "etp").size(), 8u);
  // Ranks follow the degree, wherever its devices are.
  ASSERT_FALSE(mapAxes(experts, "tp,dp"));
  EXPECT_EQ(groups(experts, "ep"), (Groups{{0, 4, 1, 5}, {2, 6, 3, 7}}));
}

TEST(ListGroups, HaveEveryDeviceOnce) {
  Plan plan = parse("pp=3,dpo=2,dpi=5,tpo=1,tpi=4,ep=dpi*tpo,etp=tpi");
  for (const char *name : {"pp", "dp", "tp", "ep", "etp", "edp", "dpi"}) {
    std::vector<int64_t> all;
    for (const std::vector<int64_t> &group : groups(plan, name)) {
      EXPECT_EQ(static_cast<int64_t>(group.size()), plan.sizeOf(name));
      all.insert(all.end(), group.begin(), group.end());
    }
    std::sort(all.begin(), all.end());
    ASSERT_EQ(all.size(), 120u) << name;
    for (size_t i = 0; i < all.size(); ++i)
      EXPECT_EQ(all[i], static_cast<int64_t>(i));
  }
}

TEST(ListGroups, Refuses) {
  EXPECT_EQ(listGroups(parse("tp=8"), "ep").error().message,
            "the plan has no axis or degree 'ep'");
  EXPECT_EQ(listGroups(parse("tp=?"), "tp").error().message,
            "axis 'tp' has no size");
  EXPECT_TRUE(listGroups(parse("dp=512,tp=8"), "tp"));
  EXPECT_EQ(listGroups(parse("dp=513,tp=8"), "tp").error().message,
            "groups are listed for at most 4,096 devices, the plan has 4,104");
}
