//===- TrainedPlanTest.cpp - How measured runs were split --------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fixtures.h"

#include "autopar/Support/File.h"
#include "autopar/Validation/TrainedPlan.h"
#include "autopar/Validation/TrainingRules.h"

#include <gtest/gtest.h>

using namespace autopar;
using namespace autopar::program;
using namespace autopar::validation;
using namespace autopar::test;

namespace {

TrainedPlan plan(const std::string &changes) {
  Result<TrainedPlan> plan = trainedPlanOf(plainTraining(changes));
  EXPECT_TRUE(plan) << plan.error().str();
  return plan ? *plan : TrainedPlan();
}

std::string failure(const std::string &changes) {
  Result<TrainedPlan> plan = trainedPlanOf(plainTraining(changes));
  return plan ? "none" : plan.error().message;
}

} // namespace

TEST(TrainedPlan, DegreesAndBatches) {
  TrainedPlan made =
      plan(R"("n_gpus": 64, "tp": 2, "pp": 4, "cp": 2, "vp": 3, "dp": 99)");
  EXPECT_EQ(made.dp, 4);
  EXPECT_EQ(made.interleave, 3);
  EXPECT_EQ(made.microbatches, 8);
  EXPECT_EQ(made.runtime, TrainingRuntime::megatron);
  EXPECT_EQ(made.zeroStage, 0);
  EXPECT_TRUE(made.sequenceParallel);
  EXPECT_EQ(made.recomputation.str(), "none");
}

/// Rows without a micro-batch are reported apart, not dropped.
TEST(TrainedPlan, MicrobatchesThatAreNotStated) {
  TrainedPlan made = plan(R"("mbs": null)");
  EXPECT_EQ(made.microbatchSequences, 1);
  EXPECT_EQ(made.microbatches, 16);
  ASSERT_FALSE(made.assumed.empty());
  EXPECT_EQ(made.assumed.front(), "a micro-batch of 1 sequence");
}

TEST(TrainedPlan, NumbersThatDoNotFit) {
  EXPECT_EQ(failure(R"("n_gpus": 9)"),
            "devices by tp x pp x cp: 9 is no multiple of 2");
  EXPECT_EQ(failure(R"("gbs": 63)"),
            "the global batch by dp x micro-batch: 63 is no multiple of 8");
  EXPECT_EQ(failure(R"("gbs": null)"), "the global batch is not stated");
  EXPECT_EQ(failure(R"("precision": "int3")"),
            "precision \"int3\" is not modelled");
  EXPECT_EQ(failure(R"("ep": 3, "arch": {"experts": 6})"),
            "devices of a stage by ep x expert tp: 8 is no multiple of 3");
}

TEST(TrainedPlan, Formats) {
  for (const auto &[text, name] :
       {std::pair("BF16", "bf16"), std::pair("amp_fp8", "fp8"),
        std::pair("bf16 + float8 linears", "fp8"), std::pair("FP8-CS", "fp8"),
        std::pair("FP8-MX", "mxfp8"), std::pair("MXFP8", "mxfp8"),
        std::pair("NVFP4", "nvfp4"), std::pair("fp16", "fp16")})
    EXPECT_STREQ(nameOf(*trainingFormatOf(text)), name) << text;
  EXPECT_FALSE(trainingFormatOf("int8"));
}

/// Programs and kernels are those of the time and of who wrote it.
TEST(TrainedPlan, Kernels) {
  TrainedPlan bloom = plan(R"("source": "bigscience-workshop/bigscience")");
  EXPECT_STREQ(nameOf(bloom.runtime), "megatron-deepspeed");
  EXPECT_TRUE(bloom.unfusedAttention);
  EXPECT_FALSE(bloom.narrowGradients);
  EXPECT_TRUE(
      plan(R"("source": "bigscience-workshop/bigscience", "precision": "fp16")")
          .narrowGradients);
  EXPECT_EQ(bloom.dropout, 0);
  TrainedPlan gpt = plan(R"("source": "Narayanan et al. 2021 Table 2")");
  EXPECT_STREQ(nameOf(gpt.runtime), "megatron");
  EXPECT_TRUE(gpt.unfusedAttention);
  EXPECT_EQ(gpt.dropout, 0.1);
  EXPECT_FALSE(gpt.narrowGradients);
  TrainedPlan mpt = plan(
      R"("tp": 1, "fsdp": "FULL_SHARD", "source": "mosaicml/llm-foundry")");
  EXPECT_STREQ(nameOf(mpt.runtime), "fsdp");
  EXPECT_FALSE(mpt.unfusedAttention);
}

TEST(TrainedPlan, FurtherTokens) {
  EXPECT_EQ(plan(R"-("model": "DeepSeek-V3 (w/ MTP)")-").mtpLayers, 1);
  EXPECT_FALSE(plan(R"-("model": "DeepSeek-V3 (w/o MTP)")-").mtpLayers);
}

TEST(TrainedPlan, Sharding) {
  TrainedPlan full = plan(R"("tp": 1, "fsdp": "FULL_SHARD")");
  EXPECT_EQ(full.runtime, TrainingRuntime::fsdp2);
  EXPECT_EQ(full.zeroStage, 3);
  EXPECT_EQ(full.zeroDevices, 8);
  EXPECT_EQ(plan(R"("tp": 1, "fsdp": "SHARD_GRAD_OP")").zeroStage, 2);
  // Context parallel ranks hold the same parameters and shard them, too.
  TrainedPlan context = plan(R"("tp": 1, "cp": 2, "fsdp": 2)");
  EXPECT_EQ(context.zeroStage, 3);
  EXPECT_EQ(context.zeroDevices, 4);
  TrainedPlan megatron =
      plan(R"("tp": 1, "fsdp": 8, "source": "Megatron-Bridge docs")");
  EXPECT_EQ(megatron.runtime, TrainingRuntime::nemo);
  EXPECT_TRUE(megatron.narrowGradients);
  EXPECT_EQ(megatron.zeroStage, 3);
  EXPECT_EQ(plan(R"("zero": 1)").zeroStage, 1);
  TrainedPlan recipe = plan(R"("fsdp": 0, "source": "Megatron-Bridge docs")");
  EXPECT_EQ(recipe.zeroStage, 1);
  ASSERT_FALSE(recipe.assumed.empty());
  EXPECT_EQ(recipe.assumed.front(),
            "optimizer states are split, as in recipes");
}

TEST(TrainedPlan, SequencesAndRecomputation) {
  EXPECT_FALSE(plan(R"("sp": false)").sequenceParallel);
  EXPECT_FALSE(plan(R"("source": "bigscience")").sequenceParallel);
  EXPECT_FALSE(plan(R"("tp": 1)").sequenceParallel);
  auto recomputes = [&](const char *cells) {
    return plan(cells).recomputation.str();
  };
  EXPECT_EQ(recomputes(R"("recompute": "full")"), "full");
  EXPECT_EQ(recomputes(R"("recompute": "selective")"), "selective");
  EXPECT_EQ(
      recomputes(R"("recompute": "selective", "source": "pytorch/torchtitan")"),
      "save_products/2");
  EXPECT_EQ(recomputes(R"("recompute": "selective: [moe_act, layernorm]")"),
            "norms+mlp_activation");
  EXPECT_EQ(recomputes(R"("recompute": "save_products")"), "save_products");
  EXPECT_EQ(recomputes(R"("recompute": "minimal", "source": "MaxText")"),
            "save_products");
  EXPECT_EQ(recomputes(R"("recompute": "moe,mla_up_proj")"),
            "experts+shared_experts+mla_up");
  EXPECT_EQ(recomputes(R"("recompute": "not stated, recipe")"), "auto");
  EXPECT_EQ(recomputes(R"("recompute": null, "source": "MaxText")"), "full");
}

TEST(TrainedPlan, Experts) {
  TrainedPlan whole = plan(R"("arch": {"experts": 8}, "ep": 4)");
  EXPECT_EQ(whole.ep, 4);
  EXPECT_EQ(whole.expertTp, 1);
  EXPECT_EQ(plan(R"("arch": {"experts": 8}, "ep": 4, "etp": 2)").expertTp, 2);
  EXPECT_EQ(plan(R"("arch": {"experts": 8})").expertTp, 2);
  TrainedPlan slip = plan(R"("arch": {"experts": 64}, "ep": 16)");
  EXPECT_EQ(slip.ep, 8);
  EXPECT_EQ(slip.assumed.back(),
            "ep 8, not 16, which a stage has no devices for");
}

TEST(TrainedPlan, EveryMeasuredRowThatCountsHasOne) {
  for (const char *file : {"measured/training.json", "measured/memory.json"}) {
    if (!fileExists(sharedData(file)))
      GTEST_SKIP() << "no measured rows beside the repository";
    TrainingRows read = *readTrainingRows(*readTable(sharedData(file)));
    auto judgements = judgeTraining(read.rows, defaultRules());
    for (size_t i = 0; i < read.rows.size(); ++i)
      if (judgements[i].counts()) {
        Result<TrainedPlan> plan = trainedPlanOf(read.rows[i]);
        EXPECT_TRUE(plan) << read.rows[i].id << ": " << plan.error().str();
      }
  }
}
