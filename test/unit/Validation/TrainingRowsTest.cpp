//===- TrainingRowsTest.cpp - What tables of training say ---------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fixtures.h"

#include "autopar/Validation/TrainingRows.h"

#include <gtest/gtest.h>

using namespace autopar;
using namespace autopar::validation;
using namespace autopar::test;

TEST(TrainingRows, SizesAndDegreesAreRead) {
  TrainingRow row = trainingRowOf(R"json({"id": "a", "model": "Qwen3-30B-A3B",
    "arch": {"layers": 48, "hidden": 2048, "heads": 32, "kv_heads": 4,
             "head_dim": 128, "moe_ffn": 768, "experts": 128, "topk": 8,
             "gated": true, "vocab": 151936},
    "params_B": 30.5, "hardware": "GB200-NVL72", "n_gpus": 256, "tp": 1,
    "pp": 2, "ep": 32, "etp": 1, "vp": 8, "zero": 1, "fsdp": "full",
    "sp": false, "offload_activations": true, "seq": 4096, "gbs": 512,
    "mbs": 4, "precision": "MXFP8", "iter_time_s": 2.5})json");
  EXPECT_EQ(row.architecture->layers, 48);
  EXPECT_EQ(row.architecture->headSize, 128);
  EXPECT_EQ(row.architecture->expertWidth, 768);
  EXPECT_EQ(row.architecture->width, std::nullopt);
  EXPECT_TRUE(row.isMoe());
  EXPECT_EQ(row.parametersBillion, 30.5);
  EXPECT_EQ(row.devices, 256);
  EXPECT_EQ(row.expertTp, 1);
  EXPECT_EQ(row.interleave, 8);
  EXPECT_EQ(row.cp, std::nullopt);
  EXPECT_EQ(row.fsdp, "full");
  EXPECT_EQ(row.sequenceParallel, false);
  EXPECT_TRUE(row.offloadsActivations);
  EXPECT_EQ(row.iterationSeconds, 2.5);
  EXPECT_EQ(row.iterationSource, IterationSource::stated);
}

/// Stated before derived before throughput, which needs devices and tokens.
TEST(TrainingRows, TimesInTheirOrder) {
  TrainingRow row = plainTraining();
  EXPECT_EQ(row.iterationSource, IterationSource::stated);
  row = plainTraining(R"("iter_time_s": null, "iter_time_s_derived": 3,
                         "tokens_per_s_per_gpu": 1000)");
  EXPECT_EQ(row.iterationSeconds, 3);
  EXPECT_EQ(row.iterationSource, IterationSource::derived);
  row = plainTraining(R"("iter_time_s": null, "tokens_per_s_per_gpu": 1024)");
  EXPECT_EQ(row.iterationSeconds, 64 * 2048 / (1024 * 8.));
  EXPECT_EQ(row.iterationSource, IterationSource::throughput);
  // A rate alone: one micro-batch of 2 on each of 4 replicas.
  row = plainTraining(R"("iter_time_s": null, "gbs": null,
                         "tokens_per_s_per_gpu": 1024)");
  EXPECT_EQ(row.globalBatch, 8);
  EXPECT_EQ(row.iterationSeconds, 8 * 2048 / (1024 * 8.));
  // How many fill a pipeline is not known.
  row = plainTraining(R"("iter_time_s": null, "gbs": null, "pp": 2,
                         "tokens_per_s_per_gpu": 1024)");
  EXPECT_EQ(row.iterationSeconds, std::nullopt);
}

TEST(TrainingRows, WrongCellsAreNamed) {
  TrainingRows read = trainingRowsOf(R"json([
    {"model": "m", "hardware": "h", "iter_time_s": -1},
    {"model": "m", "hardware": "h", "iter_time_s": 1, "sp": "often"},
    {"model": "m", "hardware": "h", "iter_time_s": 1, "arch": {"layers": 0}},
    {"model": "m", "hardware": "h", "iter_time_s": 1, "arch": "a lot"}])json");
  ASSERT_EQ(read.unreadable.size(), 4u);
  EXPECT_EQ(read.unreadable[1].str(),
            "t.json: /1: sp: expected true or false, found \"often\"");
  EXPECT_NE(read.unreadable[2].message.find("/layers"), std::string::npos)
      << read.unreadable[2].message;
  read = trainingRowsOf(R"json([{"iter_time_s": 1}])json");
  ASSERT_EQ(read.unreadable.size(), 1u);
  EXPECT_EQ(read.unreadable[0].message, "no column for model, hardware");
}

/// Of a table of memory, the rows of training alone.
TEST(TrainingRows, PeaksOfMemory) {
  TrainingRows read = trainingRowsOf(R"json([
    {"id": "engine", "model": "m", "hardware": "h", "framework": "vLLM",
     "weights_gib": 1},
    {"id": "peak", "model": "m", "hardware": "h", "recompute": "full",
     "peak_gb_nvidia_smi": 38},
    {"id": "formula", "model": "m", "hardware": "h", "recompute": "none",
     "framework": "Megatron-LM", "params_optimizer_gib": 45}])json");
  ASSERT_EQ(read.rows.size(), 2u);
  EXPECT_EQ(read.rows[0].id, "peak");
  EXPECT_EQ(read.rows[0].peakGiB, 38);
  EXPECT_TRUE(read.rows[1].isComputed);
}
