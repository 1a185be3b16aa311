//===- RecipesTest.cpp - Settings that published recipes have ----------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fixtures.h"

#include "autopar/Support/File.h"
#include "autopar/Validation/TrainedPlan.h"

#include <gtest/gtest.h>

#include <algorithm>

using namespace autopar;
using namespace autopar::validation;
using namespace autopar::test;

namespace {

/// A row of Megatron Bridge's of `model` on `system`, of `release`.
TrainingRow row(const char *model, const char *system, const char *release) {
  TrainingRow row;
  row.model = model;
  row.system = system;
  row.source = std::string("NVIDIA-NeMo/Megatron-Bridge (") + release + ")";
  return row;
}

const std::vector<Recipe> &library() {
  static const Result<std::vector<Recipe>> recipes =
      readRecipes(AUTOPAR_SOURCE_DIR "/runtimes/recipes/nemo.json");
  EXPECT_TRUE(recipes) << recipes.error().str();
  return *recipes;
}

std::string recomputes(const TrainingRow &row, const char *format) {
  RecipeSettings settings = settingsOf(library(), row, format);
  return settings.recomputation ? settings.recomputation->str() : "unset";
}

std::string errorOf(const std::string &recipe) {
  std::string path = testing::TempDir() + "/recipes.json";
  EXPECT_TRUE(writeFile(path, R"({"schema": "autopar.recipes/1", "name": "n",
    "title": "t", "recipes": [)" + recipe +
                                  "]}"));
  Result<std::vector<Recipe>> read = readRecipes(path);
  return read ? "none" : read.error().str();
}

} // namespace

TEST(Recipes, Releases) {
  EXPECT_EQ(releaseOf("docs/page.md (26.04.01 container)"), "26.04");
  EXPECT_EQ(releaseOf("dgxc-benchmarking v25.02 README"), "25.02");
  EXPECT_EQ(releaseOf("1f6d9f4, arXiv:2104.04473, 126.04, 6.04"), "");
}

/// All words of one of the names, whatever stands around them.
TEST(Recipes, Names) {
  Recipe recipe;
  recipe.models = {"qwen3 30b", "gpt oss"};
  recipe.chips = {"b300"};
  recipe.formats = {"mxfp8"};
  recipe.from = "25.11";
  recipe.before = "26.06";
  recipe.settings.sendsOnce = true;
  auto holds = [&](const char *model, const char *system, const char *release,
                   const char *format) {
    return settingsOf({recipe}, row(model, system, release), format)
        .sendsOnce.has_value();
  };
  EXPECT_TRUE(holds("Qwen3-30B-A3B (tokendrop)", "B300-SXM", "25.11", "mxfp8"));
  EXPECT_TRUE(holds("gpt-oss-120b", "B300-SXM", "26.04.01", "mxfp8"));
  EXPECT_FALSE(holds("Qwen3-235B-A22B", "B300-SXM", "26.04", "mxfp8"));
  EXPECT_FALSE(holds("gpt-oss-120b", "GB300-NVL72", "26.04", "mxfp8"));
  EXPECT_FALSE(holds("gpt-oss-120b", "B300-SXM", "26.06", "mxfp8"));
  EXPECT_FALSE(holds("gpt-oss-120b", "B300-SXM", "25.09", "mxfp8"));
  EXPECT_FALSE(holds("gpt-oss-120b", "B300-SXM", "26.04", "bf16"));
}

TEST(Recipes, Library) {
  EXPECT_EQ(recomputes(row("Qwen3-30B-A3B", "GB300-NVL72", "26.04"), "mxfp8"),
            "none");
  EXPECT_EQ(recomputes(row("gpt-oss-120b", "B200-SXM", "26.02"), "bf16"),
            "norms+mlp_activation");
  TrainingRow deepSeek = row("DeepSeek-V3", "GB300-NVL72", "26.04");
  EXPECT_EQ(recomputes(deepSeek, "mxfp8"), "mla_up");
  deepSeek.source = "Megatron-Bridge (26.06.01)";
  EXPECT_EQ(recomputes(deepSeek, "mxfp8"), "none");
  EXPECT_TRUE(*settingsOf(library(), deepSeek, "mxfp8").overlapsDispatch);
  EXPECT_FALSE(settingsOf(library(), deepSeek, "bf16").overlapsDispatch);
  EXPECT_EQ(recomputes(row("Mixtral-8x7B", "H100-SXM", "26.04"), "bf16"),
            "unset");
}

/// What a row states holds; other recipes than NeMo's are not asked.
TEST(Recipes, OfPlans) {
  const std::string cells =
      R"("model": "Qwen3-30B-A3B", "hardware": "GB300-NVL72", "tp": 1, "ep": 8,
         "precision": "MXFP8", "arch": {"experts": 128}, "source": )";
  auto planOf = [&](const std::string &source,
                    const std::string &recompute = "null") {
    Result<TrainedPlan> plan = trainedPlanOf(
        plainTraining(cells + source + R"(, "recompute": )" + recompute),
        library());
    EXPECT_TRUE(plan) << plan.error().str();
    return plan ? *plan : TrainedPlan();
  };
  TrainedPlan plan = planOf(R"row("Megatron-Bridge (26.04)")row");
  EXPECT_EQ(plan.recomputation.str(), "none");
  EXPECT_TRUE(plan.sendsOnce);
  EXPECT_FALSE(plan.overlapsDispatch);
  EXPECT_EQ(std::count(plan.assumed.begin(), plan.assumed.end(),
                       "recomputation of none, as in recipes"),
            1);
  EXPECT_TRUE(planOf(R"row("Megatron-Bridge (26.06)")row").overlapsDispatch);
  EXPECT_EQ(planOf(R"row("Megatron-LM (26.04)")row").recomputation.str(),
            "auto");
  EXPECT_EQ(planOf(R"row("Megatron-Bridge (26.04)")row", R"("full")")
                .recomputation.str(),
            "full");
  EXPECT_TRUE(planOf(R"row("Megatron-Bridge (26.06)")row").capturesIteration);
}

TEST(Recipes, Errors) {
  EXPECT_EQ(errorOf(R"({"source": "s"})"), "none");
  EXPECT_NE(errorOf(R"({"source": "s", "from": "2026"})")
                .find("expected a release, as in \"26.06\""),
            std::string::npos);
  EXPECT_NE(errorOf(R"({"source": "s", "recompute": "some"})").find("some"),
            std::string::npos);
  EXPECT_NE(errorOf(R"({"source": "s", "send_once": true})").find("sends_once"),
            std::string::npos);
  EXPECT_NE(errorOf("{}").find("source"), std::string::npos);
}
