//===- NamesTest.cpp - What others call models and machines ---------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fixtures.h"

#include "autopar/Support/File.h"
#include "autopar/Support/Library.h"
#include "autopar/Validation/Names.h"

#include <gtest/gtest.h>

using namespace autopar;
using namespace autopar::validation;
using namespace autopar::test;
namespace fs = std::filesystem;

namespace {

/// Folders in `directory` that hold a config.json.
std::vector<std::string> modelsIn(const std::string &directory) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto &entry : fs::directory_iterator(directory, error))
    if (fileExists(entry.path().string() + "/config.json"))
      names.push_back(entry.path().filename().string());
  return names;
}

NameRules rulesIn(const std::string &folder) {
  Result<NameRules> rules =
      readNameRules(AUTOPAR_SOURCE_DIR "/" + folder + "/names.json");
  EXPECT_TRUE(rules) << rules.error().str();
  return rules ? *rules : NameRules();
}

const std::vector<std::string> folders = {
    "openai--gpt-oss-120b",
    "deepseek-ai--DeepSeek-R1",
    "meta-llama--Llama-2-70b-hf",
    "Qwen--Qwen3.5-397B-A17B",
    "nvidia--NVIDIA-Nemotron-3-Super-120B-A12B-FP8",
    "nvidia--DeepSeek-V3.1-NVFP4"};

/// "name", "name in format", or why there is none.
std::string model(const std::string &text) {
  static const ModelNames names(
      rulesIn("models"), modelsIn(AUTOPAR_SOURCE_DIR "/models"), folders);
  ResolvedName found = names.find(text);
  EXPECT_EQ(found.isFolder, found.name.find("--") != std::string::npos);
  return (found ? found.name : found.why) +
         (found.format.empty() ? "" : " in " + found.format);
}

std::string system(const std::string &text) {
  static const SystemNames names(
      rulesIn("hardware"), namesIn(AUTOPAR_SOURCE_DIR "/hardware/systems"));
  ResolvedName found = names.find(text);
  return found ? found.name : found.why;
}

TEST(ModelNames, FolderOfThatVeryName) {
  EXPECT_EQ(model("openai/gpt-oss-120b"), "openai--gpt-oss-120b");
  EXPECT_EQ(model("nvidia/DeepSeek-V3.1-NVFP4"),
            "nvidia--DeepSeek-V3.1-NVFP4 in nvfp4");
  EXPECT_EQ(model("Qwen/Qwen3.5-397B-A17B"), "Qwen--Qwen3.5-397B-A17B");
}

TEST(ModelNames, LeastCutWins) {
  EXPECT_EQ(model("deepseek-ai/DeepSeek-V3"), "deepseek-v3");
  EXPECT_EQ(model("nvidia/DeepSeek-R1-NVFP4"), "deepseek-r1 in nvfp4");
  EXPECT_EQ(model("Qwen/Qwen3-235B-A22B-FP8"), "qwen3-235b-a22b in fp8");
  EXPECT_EQ(model("nvidia/Llama-3.1-8B-Instruct-FP8"), "llama-3.1-8b in fp8");
  EXPECT_EQ(model("Llama-2-70B"), "meta-llama--Llama-2-70b-hf");
  EXPECT_EQ(model("Mixtral-8x7B-Instruct-v0.1"), "mixtral-8x7b");
  EXPECT_EQ(model("Llama3.1-405B"), "llama-3.1-405b");
  EXPECT_EQ(model("Kimi_K2"), "kimi-k2");
  // Bundled before folders, where both are cut as much.
  EXPECT_EQ(model("gpt-oss-120b"), "gpt-oss-120b");
}

TEST(ModelNames, Aliases) {
  EXPECT_EQ(model("meta-llama/Llama-3.1-70B"), "llama-3.3-70b");
  EXPECT_EQ(model("Llama-3.1-70B"), "llama-3.3-70b");
  EXPECT_EQ(model("Meta-Llama-3.1-70B-Instruct"), "llama-3.3-70b");
  EXPECT_EQ(model("DeepSeek-V3/R1"), "deepseek-r1");
  EXPECT_EQ(model("Nemotron_3_Super"),
            "nvidia--NVIDIA-Nemotron-3-Super-120B-A12B-FP8");
  EXPECT_EQ(model("Nemotron_3_Ultra"),
            "\"Nemotron_3_Ultra\" is "
            "\"nvidia/NVIDIA-Nemotron-3-Ultra-550B-A55B-BF16\", which has no "
            "config here");
}

TEST(ModelNames, BracketsAreNotes) {
  EXPECT_EQ(model("DeepSeek-V3 (w/o MTP)"), "deepseek-v3");
  EXPECT_EQ(model("Qwen3-30B-A3B [tokendrop]"), "qwen3-30b-a3b");
}

TEST(ModelNames, NoneForOtherSizesAndSillyNames) {
  EXPECT_EQ(model("GPT-175B"), "no model is called \"GPT-175B\"");
  EXPECT_EQ(model("gemma-9b"), "no model is called \"gemma-9b\"");
  EXPECT_EQ(model(""), "no model is stated");
  EXPECT_EQ(model("("), "no model is called \"(\"");
  EXPECT_EQ(model("///"), "no model is called \"///\"");
  EXPECT_EQ(model("-it-it"), "no model is called \"-it-it\"");
  EXPECT_EQ(model(std::string(60'000, '(')).substr(0, 20),
            "no model is called \"");
}

TEST(ModelNames, SuggestsTheNearest) {
  ModelNames names({}, {"llama-3.1-8b", "phi-4"}, {});
  EXPECT_EQ(names.find("llama-3.1-9b").suggestion, "llama-3.1-8b");
  EXPECT_EQ(names.find("something-else").suggestion, "");
}

TEST(SystemNames, AliasWithTheMostWords) {
  EXPECT_EQ(system("h100_sxm"), "h100-sxm-8");
  EXPECT_EQ(system("H100-SXM-80GB"), "h100-sxm-8");
  EXPECT_EQ(system("H100-SXM-80GB (79.19 GiB physical)"), "h100-sxm-8");
  EXPECT_EQ(system("H100-96GB-HBM2e-2.4TB/s 500W (Grand Teton)"),
            "h100-96gb-8");
  EXPECT_EQ(system("8x NVIDIA H200"), "h200-sxm-8");
  EXPECT_EQ(system("gb200"), "gb200-nvl72");
  EXPECT_EQ(system("GB200-NVL72"), "gb200-nvl72");
  EXPECT_EQ(system("GH200-480GB"), "gh200-96gb-1");
  EXPECT_EQ(system("RTX-PRO-6000-BSE"), "rtx-pro-6000-server-8");
  EXPECT_EQ(system("Intel Arc Pro B60"), "arc-pro-b60-8");
  EXPECT_EQ(system("A100-SXM4-40GB (DGX-A100)"), "a100-40gb-sxm-8");
  EXPECT_EQ(system("V100-SXM3-32GB (DGX-2)"), "v100-32gb-sxm-16");
  EXPECT_EQ(system("TPU-v4"), "tpu-v4-4x4x4");
}

TEST(SystemNames, NotesThatSayMore) {
  EXPECT_EQ(system("A100-SXM-80GB (Jean Zay, 4x OmniPath per node)"),
            "a100-80gb-sxm-8-opa");
  EXPECT_EQ(system("A100-SXM-80GB (no B200 NVL72)"), "a100-80gb-sxm-8");
  EXPECT_EQ(system("H100-SXM (96GB)"), "h100-96gb-8");
}

TEST(SystemNames, LookAlikesAreRefused) {
  EXPECT_EQ(system("H200 NVL"),
            "\"H200 NVL\" is none of those that it looks like");
  EXPECT_EQ(system("RTX-3090-24GB (23.58 GiB)"),
            "no system is called \"RTX-3090-24GB (23.58 GiB)\"");
  EXPECT_EQ(system(""), "no system is stated");
  EXPECT_EQ(system("8x"), "no system is called \"8x\"");
}

std::string runtime(const std::string &text) {
  RuntimeName found = resolveRuntime(text);
  return found.name + " " + found.version;
}

TEST(RuntimeNames, FirstWordAndVersion) {
  EXPECT_EQ(runtime("vllm"), "vllm ");
  EXPECT_EQ(runtime("TensorRT-LLM 0.17 trtllm-bench throughput (x 0.9)"),
            "trtllm 0.17");
  EXPECT_EQ(runtime("TensorRT-LLM 0.6.1/0.5 gptSessionBenchmark"),
            "trtllm 0.6.1/0.5");
  EXPECT_EQ(runtime("TensorRT-LLM (commit b6261862)"), "trtllm ");
  EXPECT_EQ(runtime("vLLM 0.6.5.dev (2024-12-13)"), "vllm 0.6.5.dev");
  EXPECT_EQ(runtime("vLLM V1 (2025-04)"), "vllm 2025-04");
  EXPECT_EQ(runtime("SGLang PD disaggregation"), "sglang ");
  EXPECT_EQ(runtime("JAX (Pope et al. 2022)"), " ");
  EXPECT_EQ(runtime(""), " ");
}

TEST(NameRules, ErrorsAreLocated) {
  auto error = [](const std::string &text) {
    Result<NameRules> rules = parseNameRules(text, "n.json");
    return rules ? "no error" : rules.error().str();
  };
  EXPECT_EQ(error(R"({"schema": "autopar.names/1", "aliases": {"x": 1}})"),
            "n.json: /aliases/x: expected a string, found 1");
  EXPECT_EQ(error(R"({"schema": "autopar.names/1"})"),
            "n.json: missing field \"aliases\"");
}

} // namespace
