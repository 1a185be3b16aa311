//===- TrainerFilesTest.cpp -----------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// TOML texts, layouts of stages, and launches of trainers.

#include "autopar/Launch/Layout.h"
#include "autopar/Launch/ReadLaunch.h"
#include "autopar/Launch/Toml.h"
#include "autopar/Plan/Degrees.h"

#include "gtest/gtest.h"

using namespace autopar;
using namespace autopar::launch;

TEST(Toml, Values) {
  Result<YamlDocument> read = readToml("a.b = [1, 2,\n  3,] # three\n"
                                       "t = \"x\\ty\"\nl = 'a\\b'\n"
                                       "[s.u]\nn = 1_000\nf = 1e-3\n"
                                       "[[p]]\nq = true\n[[p]]\nq = false\n",
                                       "x.toml");
  ASSERT_TRUE(read) << read.error().str();
  EXPECT_EQ(read->value["a"]["b"].dump(), "[1,2,3]");
  EXPECT_EQ(read->value["t"], "x\ty");
  EXPECT_EQ(read->value["l"], "a\\b");
  EXPECT_EQ(read->value["s"]["u"]["n"], 1000);
  EXPECT_EQ(read->value["s"]["u"]["f"], 0.001);
  EXPECT_EQ(read->value["p"][1]["q"], false);
  EXPECT_EQ(read->lineOf("/s/u/n"), 6);
}

TEST(Toml, ErrorsNameTheLine) {
  for (const char *text : {"a = 1\nb = ", "a = 1\na = 2", "a = 1\n[b",
                           "a = 1\n"
                           "b = [1,",
                           "a = 1\nb = \"x"}) {
    Result<YamlDocument> read = readToml(text, "x.toml");
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().where, "x.toml:2") << text;
  }
  EXPECT_FALSE(readToml("a = " + std::string(100'000, '['), "x.toml"));
}

/// The layout of a functional test of Megatron-LM with 15 layers.
TEST(Layout, LayersOfStages) {
  Result<std::vector<int64_t>> layers = layersOfLayout("Et*3|(tt|)*6L");
  ASSERT_TRUE(layers) << layers.error().str();
  EXPECT_EQ(*layers, (std::vector<int64_t>{3, 2, 2, 2, 2, 2, 2, 0}));
  EXPECT_EQ(layoutOfLayers({16, 16, 15}), "Et*16|t*16|t*15L");
  EXPECT_EQ(*layersOfLayout("Et*16|t*16|t*15L"),
            (std::vector<int64_t>{16, 16, 15}));
}

TEST(Layout, Errors) {
  for (const char *layout : {"E(tt|", "Ett)", "t*", "(t|)*9999999",
                             "((((t|)*9999)*9999)*9999)*9999"})
    EXPECT_FALSE(layersOfLayout(layout)) << layout;
}

static Launch readOne(const std::string &text) {
  setenv("AUTOPAR_DATA", AUTOPAR_SOURCE_DIR, /*overwrite=*/1);
  Result<std::vector<LaunchTable>> tables = loadLaunchTables();
  EXPECT_TRUE(tables) << tables.error().str();
  Result<std::vector<Launch>> launches =
      readLaunches(*tables, text, "launch", ReadOptions());
  EXPECT_TRUE(launches) << launches.error().str();
  return launches ? launches->front() : Launch();
}

TEST(Trainers, CommandBehindALauncher) {
  Launch launch = readOne(
      "torchrun --nnodes=2 --nproc_per_node 8 /opt/megatron/pretrain_gpt.py "
      "--tensor-model-parallel-size 4 --sequence-parallel --bf16 "
      "--use-distributed-optimizer --micro-batch-size 2 --global-batch-size 64 "
      "--seq-length 4096");
  EXPECT_EQ(launch.engine, "megatron");
  EXPECT_EQ(launch.devices, 16);
  EXPECT_EQ(plan::degreesOf(launch.plan).tp, 4);
  EXPECT_EQ(plan::degreesOf(launch.plan).dp, 4);
  EXPECT_EQ(launch.plan.training.zero, 1);
  EXPECT_EQ(launch.requests["batch"], 64);
  EXPECT_TRUE(launch.unknown.empty());
}

TEST(Trainers, FileOfSettings) {
  Launch launch = readOne("distributed_type: FSDP\nnum_processes: 8\n"
                          "fsdp_config:\n  fsdp_version: 2\n");
  EXPECT_EQ(launch.engine, "accelerate");
  EXPECT_EQ(launch.devices, 8);
  EXPECT_EQ(launch.plan.training.zero, 3);
}

TEST(Trainers, AssignmentsSetKeys) {
  Launch launch = readOne(
      "python3 -m maxtext.trainers.pre_train.train base.yml "
      "ici_tensor_parallelism=4 ici_fsdp_parallelism=2 model_name=llama2-7b");
  EXPECT_EQ(launch.engine, "maxtext");
  EXPECT_EQ(launch.model, "llama2-7b");
  EXPECT_EQ(plan::degreesOf(launch.plan).tp, 4);
}
