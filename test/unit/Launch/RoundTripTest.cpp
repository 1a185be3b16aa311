//===- RoundTripTest.cpp --------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Plans become launches, launches plans: the plan, the devices that the files
// ask for, and each target.

#include "autopar/Launch/ReadLaunch.h"
#include "autopar/Launch/WriteTargets.h"
#include "autopar/Plan/Degrees.h"

#include "gtest/gtest.h"

#include <random>

using namespace autopar;
using namespace autopar::launch;
using namespace autopar::plan;

namespace {

class RoundTrip : public testing::Test {
protected:
  void SetUp() override {
    setenv("AUTOPAR_DATA", AUTOPAR_SOURCE_DIR, /*overwrite=*/1);
    Result<std::vector<LaunchTable>> loaded = loadLaunchTables();
    ASSERT_TRUE(loaded) << loaded.error().str();
    tables = std::move(*loaded);
  }
  const LaunchTable &table(const std::string &name) {
    for (const LaunchTable &one : tables)
      if (one.name == name)
        return one;
    ADD_FAILURE() << "no table " << name;
    return tables.front();
  }

  std::vector<LaunchTable> tables;
};

/// Draws numbers that are the same for each run.
class Draw {
public:
  explicit Draw(uint32_t seed) : engine(seed) {}
  int64_t below(int64_t end) { return int64_t(engine() % uint32_t(end)); }
  int64_t power(int64_t most) { return int64_t(1) << below(most + 1); }
  bool isOnce(int64_t in) { return below(in) == 0; }

private:
  std::mt19937 engine;
};

/// A plan of a stage and, with stages, of all; nothing where degrees do not fit
/// together.
std::optional<Plan> drawPlan(Draw &draw, bool hasExperts) {
  Degrees degrees;
  int64_t tp = draw.power(4), dp = draw.isOnce(2) ? draw.power(4) : 1;
  if (tp > 1)
    degrees.tp = tp;
  if (dp > 1)
    degrees.dp = dp;
  if (hasExperts && tp * dp > 1 && !draw.isOnce(3))
    degrees.ep = draw.isOnce(4) ? draw.power(3) : tp * dp;
  if (degrees.ep == 1)
    degrees.ep.reset();
  if (tp > 1 && draw.isOnce(6))
    degrees.attentionTp = tp / 2;
  Result<MeshPlan> mesh = planMesh(degrees);
  if (!mesh)
    return std::nullopt;
  Plan plan;
  if (draw.isOnce(3)) {
    plan.setAxis(Degree::pp, 2);
    if (draw.isOnce(2))
      plan.pipeline.stages = {{0, 15}, {15, 32}};
  }
  setMesh(plan, *mesh);
  if (draw.isOnce(2))
    plan.kvDtype = parseElementType("fp8_e4m3");
  if (draw.isOnce(2))
    plan.memoryUtilization = 0.75 + 0.01 * double(draw.below(20));
  if (draw.isOnce(2))
    plan.maxSequences = 1 + draw.below(512);
  if (draw.isOnce(2))
    plan.prefillChunk = 1024 * (1 + draw.below(16));
  plan.eager = draw.isOnce(8);
  return plan;
}

int64_t devicesOf(const std::vector<Launch> &launches) {
  int64_t devices = 0;
  for (const Launch &launch : launches)
    devices += launch.copies * launch.devices;
  return devices;
}

TEST_F(RoundTrip, PlansComeBackFromEveryTarget) {
  constexpr TargetKind kinds[] = {TargetKind::command, TargetKind::slurm,
                                  TargetKind::compose, TargetKind::kubernetes,
                                  TargetKind::dynamo};
  Draw draw(51);
  size_t written = 0, refused = 0;
  for (int i = 0; i < 3000; ++i) {
    const char *engines[] = {"vllm", "sglang", "trtllm"};
    const LaunchTable &engine = table(engines[draw.below(3)]);
    bool hasExperts = !draw.isOnce(3);
    std::optional<Plan> plan = drawPlan(draw, hasExperts);
    if (!plan)
      continue;
    LaunchRequest request;
    request.plan = *plan;
    request.model = "org/model";
    request.facts = {hasExperts, 32};
    request.version =
        engine.versions[size_t(draw.below(int64_t(engine.versions.size())))];
    Result<WrittenLaunch> launch = settle(engine, request);
    if (!launch) {
      ++refused;
      EXPECT_FALSE(launch.error().message.empty());
      continue;
    }
    ReadOptions reading;
    reading.version = request.version;
    reading.findModel = [&](const std::string &) { return request.facts; };
    TargetRequest target;
    target.kind = kinds[draw.below(5)];
    Result<std::vector<LaunchFile>> files = filesOf(engine, *launch, target);
    if (!files)
      continue;
    const std::string &text = files->front().text;
    Result<std::vector<Launch>> launches =
        readLaunches(tables, text, "launch", reading);
    ASSERT_TRUE(launches) << launches.error().str() << "\n" << text;
    ASSERT_EQ(launches->size(), 1u) << text;
    ASSERT_EQ(writePlan(launches->front().plan), writePlan(*plan)) << text;
    ASSERT_EQ(devicesOf(*launches), *plan->devices()) << text;
    EXPECT_TRUE(launches->front().unknown.empty()) << text;
    EXPECT_EQ(launches->front().model, "org/model") << text;
    ++written;
  }
  EXPECT_GT(written, 1000u);
  EXPECT_GT(refused, 100u);
}

} // namespace
