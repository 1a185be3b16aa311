//===- DegreesTest.cpp ----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Plan/Degrees.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <sstream>

using namespace autopar;
using namespace autopar::plan;

/// The plan with the mesh of `degrees`.
static Plan planOf(const Degrees &degrees) {
  Plan plan;
  Result<MeshPlan> mesh = planMesh(degrees);
  EXPECT_TRUE(mesh) << mesh.error().str();
  if (mesh)
    setMesh(plan, *mesh);
  return plan;
}

/// Axes and degrees as `--mesh` has them.
static std::string textOf(const Degrees &degrees) {
  return meshText(planOf(degrees));
}

static std::string errorOf(const Degrees &degrees) {
  Result<MeshPlan> mesh = planMesh(degrees);
  EXPECT_FALSE(mesh);
  return mesh ? "" : mesh.error().message;
}

static Degrees make(std::optional<int64_t> tp, std::optional<int64_t> cp,
                    std::optional<int64_t> dp, std::optional<int64_t> ep = {},
                    std::optional<int64_t> etp = {},
                    std::optional<int64_t> dcp = {},
                    std::optional<int64_t> attentionTp = {}) {
  return {tp, cp, dp, ep, etp, dcp, attentionTp};
}

static constexpr std::nullopt_t none = std::nullopt;

//===----------------------------------------------------------------------===//
// By hand
//===----------------------------------------------------------------------===//

TEST(Degrees, WithoutCutsAxesKeepTheirNames) {
  EXPECT_EQ(textOf({}), "");
  EXPECT_EQ(textOf(make(8, none, none)), "tp=8");
  EXPECT_EQ(textOf(make(8, 2, 4)), "dp=4,cp=2,tp=8");
  EXPECT_EQ(textOf(make(openDegree, none, 4)), "dp=4,tp=?");
  Result<MeshPlan> mesh = planMesh(make(8, none, 4));
  ASSERT_TRUE(mesh);
  ASSERT_EQ(mesh->degrees.size(), 2u);
  EXPECT_EQ(mesh->degrees[0].name, "tp");
  EXPECT_EQ(mesh->degrees[0].axes, std::vector<std::string>{"tp"});
}

TEST(Degrees, ExpertsOverDataAndTensorParallelism) {
  EXPECT_EQ(textOf(make(8, none, 8, 64)),
            "dpo=1,dpi=8,tp=8,dp=dpo*dpi,ep=dpi*tp,edp=dpo");
  EXPECT_EQ(textOf(make(8, none, 16, 64)),
            "dpo=2,dpi=8,tp=8,dp=dpo*dpi,ep=dpi*tp,edp=dpo");
  EXPECT_EQ(textOf(make(1, none, 64, 64)),
            "dpo=1,dpi=64,tp=1,dp=dpo*dpi,ep=dpi*tp,edp=dpo");
  EXPECT_EQ(textOf(make(none, none, 64, 32)),
            "dpo=2,dpi=32,dp=dpo*dpi,ep=dpi,edp=dpo");
  EXPECT_EQ(textOf(make(8, none, none, 8)),
            "dpo=1,dpi=1,tp=8,dp=dpo*dpi,ep=dpi*tp,edp=dpo");
  EXPECT_EQ(textOf(make(8, 2, 4, 32)),
            "dpo=2,dpi=2,cp=2,tp=8,dp=dpo*dpi,ep=dpi*cp*tp,edp=dpo");
  Plan plan = planOf(make(8, none, 8, 64));
  ASSERT_TRUE(plan.degree(Degree::etp));
  EXPECT_TRUE(plan.axesOf(Degree::etp).empty());
  EXPECT_EQ(plan.sizeOf(Degree::etp), 1);
  EXPECT_EQ(plan.sizeOf(Degree::edp), 1);
  EXPECT_EQ(plan.devices(), 64);
}

TEST(Degrees, ExpertsInsideTensorOrContextParallelism) {
  EXPECT_EQ(textOf(make(8, none, 4, 2)),
            "dp=4,tpo=4,tpi=2,tp=tpo*tpi,ep=tpi,edp=dp*tpo");
  EXPECT_EQ(textOf(make(8, 4, 2, 16)),
            "dp=2,cpo=2,cpi=2,tp=8,cp=cpo*cpi,ep=cpi*tp,edp=dp*cpo");
  EXPECT_EQ(textOf(make(8, 4, 2, 8)),
            "dp=2,cpo=4,cpi=1,tp=8,cp=cpo*cpi,ep=cpi*tp,edp=dp*cpo");
  EXPECT_EQ(textOf(make(8, 4, none, 1)),
            "cp=4,tpo=8,tpi=1,tp=tpo*tpi,ep=tpi,edp=cp*tpo");
}

TEST(Degrees, PartsOfReplicas) {
  auto over = [](Degrees degrees, int64_t fsdp) {
    degrees.fsdp = fsdp;
    return degrees;
  };
  EXPECT_EQ(textOf(over(make(8, none, 16), 4)),
            "dpo=4,dpi=4,tp=8,dp=dpo*dpi,fsdp=dpi");
  EXPECT_EQ(textOf(over(make(none, 2, 8), 4)),
            "dpo=4,dpi=2,cp=2,dp=dpo*dpi,fsdp=dpi*cp");
  EXPECT_EQ(textOf(over(make(8, 4, 2), 2)),
            "dp=2,cpo=2,cpi=2,tp=8,cp=cpo*cpi,fsdp=cpi");
  EXPECT_EQ(textOf(over(make(none, none, 8, 2), 4)),
            "dpo=2,dpm=2,dpi=2,dp=dpo*dpm*dpi,ep=dpi,edp=dpo*dpm,fsdp=dpm*dpi");
  EXPECT_EQ(
      errorOf(over(make(8, none, 8), 3)),
      "fsdp = 3: tp*fsdp = 24 must divide tp*cp*dp = 64; fsdp that works: "
      "1, 2, 4, 8");
  EXPECT_EQ(errorOf(over(make(8, none, none), 2)),
            "fsdp is a part of dp*cp: it needs dp or cp");
}

TEST(Degrees, TensorParallelismInsideExperts) {
  EXPECT_EQ(textOf(make(8, none, 8, 16, 2)),
            "dpo=2,dpi=4,tpo=4,tpi=2,tp=tpo*tpi,dp=dpo*dpi,ep=dpi*tpo,"
            "etp=tpi,edp=dpo");
  EXPECT_EQ(textOf(make(8, none, 8, 8, 8)),
            "dpo=1,dpi=8,tpo=1,tpi=8,tp=tpo*tpi,dp=dpo*dpi,ep=dpi*tpo,"
            "etp=tpi,edp=dpo");
  EXPECT_EQ(textOf(make(8, none, 2, 2, 2)),
            "dp=2,tpo=2,tpm=2,tpi=2,tp=tpo*tpm*tpi,ep=tpm,etp=tpi,"
            "edp=dp*tpo");
  // Attention data-parallel, experts split over the same devices.
  EXPECT_EQ(textOf(make(1, none, 8, 2, 4)),
            "dpo=1,dpm=2,dpi=4,tp=1,dp=dpo*dpm*dpi,ep=dpm,etp=dpi*tp,edp=dpo");
  EXPECT_EQ(textOf(make(8, none, 8, 64, 1)), textOf(make(8, none, 8, 64)));
}

TEST(Degrees, PartsOfTensorParallelism) {
  EXPECT_EQ(textOf(make(8, none, none, none, none, 4)),
            "tpo=2,tpi=4,tp=tpo*tpi,dcp=tpi");
  EXPECT_EQ(textOf(make(8, none, 2, none, none, none, 4)),
            "dp=2,tpo=2,tpi=4,tp=tpo*tpi,attention_tp=tpi");
  EXPECT_EQ(textOf(make(8, none, none, none, none, 2, 4)),
            "tpo=2,tpm=2,tpi=2,tp=tpo*tpm*tpi,dcp=tpi,attention_tp=tpm*tpi");
  EXPECT_EQ(textOf(make(8, none, 2, 16, none, 8, 8)),
            "dpo=1,dpi=2,tpo=1,tpm=1,tpi=8,tp=tpo*tpm*tpi,dp=dpo*dpi,"
            "ep=dpi*tpo*tpm*tpi,edp=dpo,dcp=tpi,attention_tp=tpm*tpi");
  EXPECT_EQ(textOf(make(16, none, none, 2, 2, 8, 8)),
            "tp0=2,tp1=1,tp2=2,tp3=2,tp4=2,tp=tp0*tp1*tp2*tp3*tp4,ep=tp3,"
            "etp=tp4,edp=tp0*tp1*tp2,dcp=tp2*tp3*tp4,"
            "attention_tp=tp1*tp2*tp3*tp4");
}

TEST(Degrees, RefusesWhatDoesNotDivide) {
  EXPECT_EQ(errorOf(make(8, none, 8, 48)),
            "ep = 48: experts need etp*ep*edp = tp*cp*dp = 64 devices; ep that "
            "works: 1, 2, 4, 8, 16, 32, 64");
  EXPECT_EQ(errorOf(make(8, none, 8, 64, 2)),
            "ep = 64: experts need etp*ep*edp = tp*cp*dp = 64 devices; ep that "
            "works: 1, 2, 4, 8, 16, 32");
  EXPECT_EQ(errorOf(make(8, none, 8, 4, 3)),
            "etp = 3: experts need etp*ep*edp = tp*cp*dp = 64 devices; etp "
            "that works: 1, 2, 4, 8, 16, 32, 64");
  EXPECT_EQ(errorOf(make(6, none, 2, 4)),
            "ep = 4: etp*ep = 4 must divide tp = 6; ep that works: 1, 2, 3, 6, "
            "12");
  EXPECT_EQ(errorOf(make(3, none, 4, 4)),
            "ep = 4: etp*ep = 4 must be a multiple of tp*cp = 3 and divide "
            "tp*cp*dp = 12; ep that works: 1, 3, 6, 12");
  EXPECT_EQ(errorOf(make(6, none, none, none, none, 4)),
            "dcp = 4: it must divide tp = 6; dcp that works: 1, 2, 3, 6");
  EXPECT_EQ(errorOf(make(8, none, none, none, none, 4, 2)),
            "dcp = 4: it must divide attention_tp = 2, a part of tp = 8; dcp "
            "that works: 1, 2");
  EXPECT_EQ(errorOf(make(12, none, none, none, none, none, 8)),
            "attention_tp = 8: it must divide tp = 12; attention_tp that "
            "works: 1, 2, 3, 4, 6, 12");
  EXPECT_EQ(errorOf(make(12, none, none, 2, 2, none, 6)),
            "attention_tp = 6: it must divide or be a multiple of etp*ep = 4, "
            "a part of tp = 12; attention_tp that works: 1, 2, 4, 12");
  EXPECT_EQ(errorOf(make(5040, none, 2, 65)),
            "ep = 65: experts need etp*ep*edp = tp*cp*dp = 10080 devices; ep "
            "that works: ..., 36, 40, 42, 45, 48, 56, 60, 63, 70, 72, 80, "
            "84, 90, 105, 112, 120, ...");
}

TEST(Degrees, RefusesWhatIsNoDegree) {
  EXPECT_EQ(errorOf(make(0, none, none)),
            "tp = 0: expected a number of devices from 1 to 1073741824");
  EXPECT_EQ(errorOf(make(8, none, 8, -8)),
            "ep = -8: expected a number of devices from 1 to 1073741824");
  EXPECT_EQ(errorOf(make(8, none, (int64_t(1) << 30) + 1)),
            "dp = 1073741825: expected a number of devices from 1 to "
            "1073741824");
  int64_t most = int64_t(1) << 30;
  EXPECT_EQ(errorOf(make(most, most, most)),
            "tp*cp*dp = 1237940039285380274899124224 is more than "
            "1,073,741,824 devices");
  EXPECT_EQ(textOf(make(most, none, none)), "tp=1073741824");
  EXPECT_EQ(errorOf(make(most, none, none, most, most)),
            "ep = 1073741824: experts need etp*ep*edp = tp*cp*dp = 1073741824 "
            "devices; ep that works: 1");
}

TEST(Degrees, RefusesWhatMakesNoSenseAlone) {
  EXPECT_EQ(errorOf(make(8, none, 8, none, 2)),
            "etp splits the matrices of each expert beside ep: it needs ep");
  EXPECT_EQ(errorOf(make(none, none, 8, none, none, 2)),
            "dcp is a part of tp: it needs tp");
  EXPECT_EQ(errorOf(make(none, none, 8, none, none, none, 2)),
            "attention_tp is a part of tp: it needs tp");
  Result<MeshPlan> open = planMesh(make(8, none, openDegree, 64));
  ASSERT_FALSE(open);
  EXPECT_EQ(
      open.error().message,
      "dp = ?: with ep, dcp, attention_tp or fsdp all sizes must be numbers, "
      "which say how the axes are cut");
  EXPECT_NE(open.error().note.find("--mesh="), std::string::npos);
}

//===----------------------------------------------------------------------===//
// At random
//===----------------------------------------------------------------------===//

/// Whether the axes inside a border of `product` devices can be followed by
/// others so that every one of `borders` is a border between axes.
static bool canRefine(int64_t product, int64_t devices,
                      std::set<int64_t> borders) {
  borders.erase(product);
  if (product == devices)
    return borders.empty();
  for (int64_t next = 2 * product; next <= devices; next += product)
    if (devices % next == 0 && canRefine(next, devices, borders))
      return true;
  return false;
}

static bool isLegal(const Degrees &degrees) {
  int64_t tp = degrees.tp.value_or(1), etp = degrees.etp.value_or(1);
  int64_t context = tp * degrees.cp.value_or(1);
  int64_t devices = context * degrees.dp.value_or(1);
  if ((degrees.etp && !degrees.ep) ||
      ((degrees.dcp || degrees.attentionTp) && !degrees.tp))
    return false;
  int64_t attention = degrees.attentionTp.value_or(tp);
  int64_t dcp = degrees.dcp.value_or(1);
  if (tp % attention != 0 || attention % dcp != 0)
    return false;
  return canRefine(
      1, devices,
      {tp, context, etp, etp * degrees.ep.value_or(1), attention, dcp});
}

static Degrees draw(std::mt19937 &random) {
  static const std::vector<int64_t> sizes = {1, 1, 2, 2, 3, 4, 6, 8};
  auto one = [&](int percent) -> std::optional<int64_t> {
    if (static_cast<int>(random() % 100) >= percent)
      return std::nullopt;
    return sizes[random() % sizes.size()];
  };
  Degrees degrees =
      make(one(80), one(40), one(70), one(70), one(40), one(25), one(25));
  if (degrees.ep && random() % 3 == 0)
    *degrees.ep *= 4;
  return degrees;
}

static int64_t sizeOf(const MeshPlan &mesh,
                      const std::vector<std::string> &names) {
  int64_t size = 1;
  for (const std::string &name : names)
    for (const PlanAxis &axis : mesh.axes)
      if (axis.name == name)
        size *= *axis.size;
  return size;
}

static std::vector<std::string> axesOf(const MeshPlan &mesh,
                                       std::vector<std::string> names) {
  std::vector<std::string> axes;
  for (const std::string &name : names)
    for (const PlanDegree &degree : mesh.degrees)
      if (degree.name == name)
        axes.insert(axes.end(), degree.axes.begin(), degree.axes.end());
  return axes;
}

/// Checks that `names`, one after the other, are the whole mesh.
static void expectOrder(const MeshPlan &mesh, std::vector<std::string> names) {
  std::vector<std::string> all;
  for (const PlanAxis &axis : mesh.axes)
    all.push_back(axis.name);
  EXPECT_EQ(axesOf(mesh, names), all);
}

/// Checks that degree `name` is the `size` innermost devices of tp.
static void expectInner(const MeshPlan &mesh, const char *name,
                        std::optional<int64_t> size) {
  if (!size)
    return;
  std::vector<std::string> part = axesOf(mesh, {name});
  std::vector<std::string> whole = axesOf(mesh, {"tp"});
  ASSERT_LE(part.size(), whole.size());
  EXPECT_TRUE(std::equal(part.rbegin(), part.rend(), whole.rbegin()));
  EXPECT_EQ(sizeOf(mesh, part), size);
}

static void expectProducts(const Degrees &degrees, const MeshPlan &mesh) {
  auto size = [&](const char *name) {
    return sizeOf(mesh, axesOf(mesh, {name}));
  };
  EXPECT_EQ(size("tp"), degrees.tp.value_or(1));
  EXPECT_EQ(size("cp"), degrees.cp.value_or(1));
  EXPECT_EQ(size("dp"), degrees.dp.value_or(1));
  expectOrder(mesh, {"dp", "cp", "tp"});
  expectInner(mesh, "dcp", degrees.dcp);
  expectInner(mesh, "attention_tp", degrees.attentionTp);
  if (!degrees.ep)
    return;
  EXPECT_EQ(size("ep"), degrees.ep);
  EXPECT_EQ(size("etp"), degrees.etp.value_or(1));
  EXPECT_EQ(size("etp") * size("ep") * size("edp"),
            size("tp") * size("cp") * size("dp"));
  expectOrder(mesh, {"edp", "ep", "etp"});
}

/// What names may depend on: what is given, which axis each border is in, and
/// the order of borders inside an axis.
static std::vector<int64_t> strategyOf(const Degrees &degrees) {
  int64_t tp = degrees.tp.value_or(1), cp = degrees.cp.value_or(1);
  int64_t etp = degrees.etp.value_or(1), ep = degrees.ep.value_or(0) * etp;
  int64_t dcp = degrees.dcp.value_or(0);
  int64_t attention = degrees.attentionTp.value_or(0);
  return {degrees.tp.has_value(), degrees.cp.has_value(),
          degrees.dp.has_value(), degrees.ep.has_value(), dcp != 0,
          attention != 0, etp > 1 ? (etp > tp) + (etp > tp * cp) : -1,
          (ep >= tp) + (ep >= tp * cp),
          // Ties: dcp, etp, attention_tp, ep from the inside.
          dcp && etp > 1 && dcp > etp, attention && etp > 1 && attention >= etp,
          dcp && ep && ep >= dcp, attention && ep && ep >= attention};
}

/// What a user writes by hand gives the same plan.
static void expectSameByHand(const MeshPlan &mesh) {
  Plan flags, hand;
  setMesh(flags, mesh);
  hand.axes = mesh.axes;
  for (const char *name : {"ep", "etp", "dcp", "attention_tp"})
    if (std::vector<std::string> axes = axesOf(mesh, {name});
        !axes.empty() && !hand.axis(name))
      hand.setDegree(name, axes);
  if (flags.degree("ep"))
    EXPECT_FALSE(axesOf(mesh, {"ep"}).empty());
  std::optional<Error> error = completeDegrees(hand);
  ASSERT_FALSE(error) << error->str();
  EXPECT_EQ(writePlan(hand), writePlan(flags));
  Plan again = flags;
  ASSERT_FALSE(completeDegrees(again));
  EXPECT_EQ(writePlan(again), writePlan(flags));
}

TEST(Degrees, RandomDegrees) {
  std::mt19937 random(1);
  std::map<std::vector<int64_t>, std::string> namesOf;
  size_t legal = 0, illegal = 0;
  for (int i = 0; i < 20000; ++i) {
    Degrees degrees = draw(random);
    Result<MeshPlan> mesh = planMesh(degrees);
    ASSERT_EQ(static_cast<bool>(mesh), isLegal(degrees))
        << (mesh ? "accepted " + meshText({mesh->axes, mesh->degrees})
                 : mesh.error().str());
    ++(mesh ? legal : illegal);
    if (!mesh)
      continue;
    expectProducts(degrees, *mesh);
    expectSameByHand(*mesh);
    std::string names;
    for (const PlanAxis &axis : mesh->axes)
      names += axis.name + " ";
    auto [known, added] = namesOf.emplace(strategyOf(degrees), names);
    EXPECT_EQ(known->second, names);
    if (HasFailure())
      return;
  }
  EXPECT_GT(legal, 4000u);
  EXPECT_GT(illegal, 4000u);
  EXPECT_GT(namesOf.size(), 100u);
}

/// Every value that an error lists works, for the degree that it names alone.
TEST(Degrees, ListedValuesWork) {
  std::mt19937 random(2);
  for (int i = 0; i < 5000; ++i) {
    Degrees degrees = draw(random);
    degrees.attentionTp = degrees.dcp = std::nullopt;
    Result<MeshPlan> mesh = planMesh(degrees);
    const std::string marker = "; ep that works: ";
    size_t at = mesh ? std::string::npos : mesh.error().message.find(marker);
    if (at == std::string::npos)
      continue;
    std::istringstream listed(mesh.error().message.substr(at + marker.size()));
    for (std::string value; listed >> value;)
      if (value[0] != '.') {
        degrees.ep = std::stoll(value);
        EXPECT_TRUE(planMesh(degrees)) << value;
      }
  }
}
