//===- RuntimeTest.cpp --------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Runtime/Runtime.h"
#include "Fixtures.h"

#include <cstring>
#include <set>

using namespace autopar;
using namespace autopar::hardware;
using namespace autopar::runtime;
using namespace autopar::test;

using RuntimeTest = LibraryTest;

TEST_F(RuntimeTest, EveryRuntimeLoads) {
  EXPECT_EQ(runtimeNames(),
            (std::vector<std::string>{"atom", "fsdp", "fsdp2", "ideal",
                                      "megatron-deepspeed", "megatron", "nemo",
                                      "sglang", "trtllm", "vllm"}));
  const std::set<std::string> serve = {"atom", "sglang", "trtllm", "vllm"};
  std::vector<bool> used;
  for (const std::string &name : runtimeNames()) {
    Result<Runtime> runtime = readRuntime(name, {}, used);
    ASSERT_TRUE(runtime) << runtime.error().str();
    EXPECT_EQ(runtime->name, name);
    EXPECT_EQ(runtime->ideal, name == "ideal");
    EXPECT_EQ(runtime->training.has_value(), serve.count(name) == 0);
  }
}

TEST_F(RuntimeTest, VllmClosesItsOwnLog) {
  // Qwen2.5-7B on an H100 at 0.95: 14.25 GiB of weights, 2.21 of activations
  // and 58.53 of KV cache leave 0.24 GiB to the libraries.
  std::vector<bool> used;
  Result<Runtime> vllm = readRuntime("vllm", {}, used);
  ASSERT_TRUE(vllm);
  double libraries = vllm->contextBytes.value + vllm->libraryBytes.value;
  EXPECT_NEAR(0.95 * 79.19 - 14.25 - 2.21 - 58.53, libraries / (1 << 30), 0.01);
}

/// FlashMLA's "FP8 with scale": 512 + 4 * 4 + 64 * 2; vLLM's rows of
/// DeepSeek-V4: 448 + 64 * 2 + 7 + 1; keys of an indexer: 128 + 4.
TEST_F(RuntimeTest, RowsOfCachesHaveTheirLayouts) {
  using Of = CacheRow::Of;
  std::vector<bool> used;
  Result<Runtime> vllm = readRuntime("vllm", {}, used);
  Result<Runtime> sglang = readRuntime("sglang", {}, used);
  ASSERT_TRUE(vllm && sglang);
  auto bytes = [](const Runtime &runtime, Of of, int64_t elements,
                  ElementType format) {
    ElementType row = runtime.formatOfRow(of, elements, format);
    std::optional<BlockSize> block = blockOf(row);
    EXPECT_EQ(block ? block->values : elements, elements);
    return block ? block->bytes : elements * bitsOf(row) / 8;
  };
  constexpr ElementType fp8 = ElementType::fp8_e4m3, bf16 = ElementType::bf16;
  EXPECT_EQ(bytes(*vllm, Of::sparse_latent, 576, fp8), 656);
  EXPECT_EQ(bytes(*vllm, Of::sparse_latent, 512, fp8), 584);
  EXPECT_EQ(bytes(*vllm, Of::index, 128, fp8), 132);
  EXPECT_EQ(bytes(*vllm, Of::index, 128, bf16), 132);
  EXPECT_EQ(bytes(*vllm, Of::sparse_latent, 576, bf16), 1152);
  EXPECT_EQ(bytes(*vllm, Of::sparse_latent, 320, fp8), 320);
  EXPECT_EQ(bytes(*sglang, Of::sparse_latent, 576, fp8), 576);
  EXPECT_EQ(bytes(*sglang, Of::sparse_latent, 512, fp8), 584);
  EXPECT_EQ(bytes(*sglang, Of::index, 128, bf16), 132);
  EXPECT_EQ(plainFormat(ElementType::fp8_row_512), fp8);
  // Users choose formats, not rows.
  EXPECT_FALSE(parseCacheFormat("fp8_row_576"));
}

TEST_F(RuntimeTest, Overrides) {
  std::vector<Override> overrides = {{"runtimes.vllm.host_time", 1500},
                                     {"runtimes.vlm.host_time", 1}};
  std::vector<bool> used;
  Result<Runtime> runtime = readRuntime("vllm", overrides, used);
  ASSERT_TRUE(runtime);
  EXPECT_EQ(runtime->hostTimeUs.value, 1500);
  EXPECT_EQ(runtime->hostTimeUs.source.kind, "user");
  EXPECT_EQ(runtime->hostTimeUs.path, "runtimes.vllm.host_time");
  ASSERT_TRUE(unusedRuntimeOverride(overrides, used));
  EXPECT_EQ(unusedRuntimeOverride(overrides, used)->str(),
            "override \"runtimes.vlm.host_time\" has no effect: it names no "
            "runtime in use\n  note: did you mean \"runtimes.vllm\"?");
}

TEST_F(RuntimeTest, Errors) {
  std::vector<bool> used;
  EXPECT_EQ(withoutFolder(readRuntime("vlm", {}, used)),
            "unknown runtime \"vlm\", did you mean \"vllm\"?\n  note: "
            "available: atom, fsdp, fsdp2, ideal, megatron-deepspeed, "
            "megatron, nemo, "
            "sglang, trtllm, vllm; or the path of a file of your own");
  std::string path =
      edited("runtimes/vllm.json", "\"value\": 16,", "\"value\": 16.5,");
  EXPECT_EQ(withoutFolder(readRuntime(path, {}, used)),
            "vllm.json: /kv_block_tokens/value: expected a whole number, "
            "found 16.5");
  path = edited("runtimes/vllm.json", "fraction_of_total", "all_of_it");
  EXPECT_EQ(withoutFolder(readRuntime(path, {}, used)),
            "vllm.json: /budget_rule: expected one of fraction_of_total, "
            "fraction_of_free, reserve, found \"all_of_it\"");
  EXPECT_EQ(withoutFolder(readRuntime("vllm@new", {}, used)),
            "expected a version behind \"@\" in the runtime \"vllm@new\"\n  "
            "note: such as vllm@0.19, or a month: vllm@2026-03");
  path = edited("runtimes/vllm.json", "\"before\": \"0.17\"",
                "\"before\": \"new\"");
  EXPECT_EQ(withoutFolder(readRuntime(path, {}, used)),
            "vllm.json: /variants/6/before: expected a version such as 0.19, "
            "found \"new\"");
  path = edited("runtimes/vllm.json", "\"released\": \"2026-03\"",
                "\"released\": \"March\"");
  EXPECT_EQ(withoutFolder(readRuntime(path, {}, used)),
            "vllm.json: /variants/5/released: expected a month such as "
            "2026-03, found \"March\"");
}

TEST_F(RuntimeTest, Versions) {
  auto read = [](const std::string &name) {
    std::vector<bool> used;
    Result<Runtime> runtime = readRuntime(name, {}, used);
    EXPECT_TRUE(runtime) << runtime.error().str();
    return *runtime;
  };
  Runtime newest = read("vllm");
  EXPECT_EQ(newest.label(), "vllm");
  EXPECT_GT(newest.graphBytes.value, 0);
  EXPECT_EQ(newest.samplerBytesPerLogit.value, 6);
  EXPECT_EQ(newest.memoryUtilization.value, 0.92);
  EXPECT_EQ(read("vllm@0.22").memoryUtilization.value, 0.92);
  EXPECT_EQ(read("vllm@0.21").memoryUtilization.value, 0.9);
  // Sized without graphs before 0.21; samples in more bytes before 0.17.
  EXPECT_EQ(read("vllm@0.21.0").graphBytes.value, newest.graphBytes.value);
  EXPECT_EQ(read("vllm@0.19.1rc2").graphBytes.value, 0);
  EXPECT_EQ(read("vllm@0.19.1rc2").samplerBytesPerLogit.value, 14);
  EXPECT_EQ(read("vllm@0.9").samplerBytesPerLogit.value, 37.5);
  EXPECT_EQ(read("vllm@0.9").label(), "vllm@0.9");
  EXPECT_EQ(read("vllm@0.9").name, "vllm");
  EXPECT_EQ(read("vllm@2026-03").samplerBytesPerLogit.value, 14);
  EXPECT_EQ(read("vllm@2026-02").samplerBytesPerLogit.value, 37.5);
  // Shared experts run beside routed ones since 0.11.1; release candidates are
  // of their release.
  EXPECT_EQ(read("vllm@0.11.0").overlapsSharedExperts.value, 0);
  EXPECT_EQ(read("vllm@2025-10").overlapsSharedExperts.value, 0);
  EXPECT_EQ(read("vllm@0.11.1rc2").overlapsSharedExperts.value, 1);
  EXPECT_EQ(newest.overlapsSharedExperts.value, 1);
}

/// Served points tell no host times of versions apart.
TEST_F(RuntimeTest, HostTimesAreOfAllVersions) {
  for (const char *name : {"vllm@0.10", "vllm@0.13", "trtllm@1.0.0rc3",
                           "sglang@2025-10", "sglang@0.5.9"}) {
    std::vector<bool> used;
    Result<Runtime> older = readRuntime(name, {}, used);
    Result<Runtime> newest =
        readRuntime(std::string(name, strcspn(name, "@")), {}, used);
    ASSERT_TRUE(older && newest) << name;
    for (auto figure :
         {&Runtime::hostTimePerLayerUs, &Runtime::hostTimePerSequenceUs,
          &Runtime::promptStepUs})
      EXPECT_EQ((*older.*figure).value, (*newest.*figure).value) << name;
    // vLLM schedules a step ahead since 0.14: its requests wait otherwise.
    bool isOlder = strncmp(name, "vllm", 4) == 0;
    EXPECT_EQ(older->requestTimeUs.value < newest->requestTimeUs.value, isOlder)
        << name;
  }
}

TEST_F(RuntimeTest, VersionsAreWholeTexts) {
  for (const char *good : {"0.19", "0.19.0", "1.0.0rc3", "0.6.5.dev", "12",
                           "0.19.2rc1.dev8+g4b7f5ea1a", "2026-03"})
    EXPECT_TRUE(isRuntimeVersion(good)) << good;
  for (const char *bad : {"", "new", "2025", "2026-2", "2026-13", "2026-02-15",
                          "0.16!", "0.6.1/0.5", ".5", "1..2", "1."})
    EXPECT_FALSE(isRuntimeVersion(bad)) << bad;
  std::vector<bool> used;
  Result<Runtime> alike = readRuntime("nemo@0.17", {}, used);
  ASSERT_TRUE(alike);
  EXPECT_EQ(alike->label(), "nemo");
}

/// The later variants over the earlier, of versions and of chips.
TEST_F(RuntimeTest, VariantsFollowEachOther) {
  auto graphs = [](const char *value) {
    return std::string("\"figures\": {\"graphs\": {\"value\": ") + value +
           ", \"unit\": \"1\", \"source\": {\"kind\": \"derived\", "
           "\"reference\": \"test\"}}}}";
  };
  std::string path = edited(
      "runtimes/ideal.json", "\"ideal\": true",
      "\"ideal\": true, \"variants\": [{\"memory_from\": 1, " + graphs("11") +
          ", {\"before\": \"0.5\", \"released\": \"2025-01\", " + graphs("22") +
          "]");
  std::vector<bool> used;
  Pool pool;
  pool.chip.memoryUsable.value = 1e9;
  for (auto [version, expected] :
       {std::pair("", 11.0), std::pair("@0.4", 22.0)}) {
    Result<Runtime> runtime = readRuntime(path + version, {}, used);
    ASSERT_TRUE(runtime) << runtime.error().str();
    runtime->adaptTo(pool);
    EXPECT_EQ(runtime->graphs.value, expected) << version;
  }
}

TEST_F(RuntimeTest, Chips) {
  std::vector<Override> given = {{"runtimes.vllm.max_sequences", 77}};
  std::vector<bool> used(1);
  HardwareLibrary library;
  auto on = [&](const char *system) {
    Result<Runtime> runtime = readRuntime("vllm", given, used);
    EXPECT_TRUE(runtime) << runtime.error().str();
    Result<Machine> machine = library.machine(system);
    EXPECT_TRUE(machine) << machine.error().str();
    runtime->adaptTo(machine->pools.front());
    return *runtime;
  };
  EXPECT_EQ(on("h100-sxm-8").tokenBudget.value, 8192);
  EXPECT_EQ(on("l40s-8").tokenBudget.value, 2048);
  EXPECT_EQ(on("a100-80gb-sxm-8").tokenBudget.value, 2048);
  // What a user gives holds on every chip.
  EXPECT_EQ(on("l40s-8").maxSequences.value, 77);
}

static Runtime readOn(const char *name, const char *system,
                      const LaunchChoices &launch = {},
                      const char *model = "") {
  std::vector<bool> used;
  Result<Runtime> runtime = readRuntime(name, {}, used);
  EXPECT_TRUE(runtime) << runtime.error().str();
  Result<Machine> machine = HardwareLibrary().machine(system);
  EXPECT_TRUE(machine) << machine.error().str();
  runtime->adaptTo(machine->pools.front(), model, launch);
  return *runtime;
}

/// vLLM captures to 512 tokens, at most twice the sequences: 51 sizes, of which
/// 35 are up to 256. Of gpt-oss it captures 83 sizes, to 1,024, whatever runs.
TEST_F(RuntimeTest, GraphsOfModels) {
  auto graphs = [](const char *model, std::optional<int64_t> sequences) {
    Runtime runtime = readOn("vllm", "h100-sxm-8", {sequences, false}, model);
    return std::pair(runtime.graphs.value, runtime.wholeGraphs.value);
  };
  EXPECT_EQ(graphs("llama", std::nullopt), std::pair(102.0, 51.0));
  EXPECT_EQ(graphs("llama", 256), std::pair(51.0 + 35, 35.0));
  EXPECT_EQ(graphs("llama", 4), std::pair(4.0 + 3, 3.0));
  EXPECT_EQ(graphs("gpt_oss", std::nullopt), std::pair(166.0, 83.0));
  EXPECT_EQ(graphs("gpt_oss", 256), std::pair(83.0 + 35, 35.0));
  EXPECT_EQ(graphs("gpt_oss", 4), std::pair(83.0 + 3, 3.0));
}

/// Links of 32 GB/s have a tenth of a GiB of buffers in every version; a TPU
/// has none, and no graphs.
TEST_F(RuntimeTest, LinksAndPlatforms) {
  constexpr double tenth = 107374182;
  EXPECT_EQ(readOn("vllm", "l40s-8").communicationBytes.value, tenth);
  EXPECT_EQ(readOn("vllm@0.19", "l40s-8").communicationBytes.value, tenth);
  EXPECT_EQ(readOn("vllm@0.19", "l40s-8").communicationBytesPerPeer.value, 0);
  EXPECT_EQ(readOn("sglang", "l40s-8").communicationBytes.value, tenth);
  EXPECT_GT(readOn("vllm@0.19", "h100-sxm-8").communicationBytes.value,
            10 * tenth);
  Runtime tpu = readOn("vllm", "tpu-v6e-4x4");
  for (const Figure *figure :
       {&tpu.communicationBytes, &tpu.libraryBytes, &tpu.graphBytes,
        &tpu.graphs, &tpu.wholeGraphs, &tpu.profileTokens})
    EXPECT_EQ(figure->value, 0) << figure->path;
}

/// The defaults of the files are what the rule gives for the default number of
/// sequences: 51 sizes up to 512, 35 of them up to 256.
TEST_F(RuntimeTest, SequencesSetGraphs) {
  for (auto [system, sequences, graphs, whole] :
       {std::tuple("h100-sxm-8", 1024, 102, 51), {"l40s-8", 256, 86, 35}}) {
    Runtime byDefault = readOn("vllm", system);
    EXPECT_EQ(byDefault.graphs.value, graphs) << system;
    EXPECT_EQ(byDefault.wholeGraphs.value, whole) << system;
    Runtime asked = readOn("vllm", system, {sequences, false});
    EXPECT_EQ(asked.graphs.value, graphs) << system;
    EXPECT_EQ(asked.wholeGraphs.value, whole) << system;
  }
  // 1 and 2 whole; 1, 2 and 4 in pieces.
  Runtime two = readOn("vllm", "l40s-8", {2, false});
  EXPECT_EQ(two.wholeGraphs.value, 2);
  EXPECT_EQ(two.graphs.value, 5);
  EXPECT_EQ(two.maxSequences.value, 2);
  EXPECT_EQ(two.profileSequences.value, 2);
  // Captured sizes of TensorRT-LLM have no pieces: 1 to 31, 32, 64, 128.
  EXPECT_EQ(readOn("trtllm", "h100-sxm-8", {64, false}).graphs.value, 33);
  EXPECT_EQ(readOn("trtllm", "h100-sxm-8", {64, false}).profileSequences.value,
            1);
  EXPECT_EQ(readOn("sglang", "h100-sxm-8", {64, false}).graphSequences.value,
            64);
  // Versions that do not count graphs stay without.
  EXPECT_EQ(readOn("vllm@0.19", "l40s-8", {2, false}).graphBytes.value, 0);
}

TEST_F(RuntimeTest, EagerCapturesNothing) {
  for (const char *name : {"vllm", "sglang", "trtllm"}) {
    Runtime captured = readOn(name, "h100-sxm-8");
    Runtime eager = readOn(name, "h100-sxm-8", {std::nullopt, true});
    for (const Figure *figure :
         {&eager.graphBytes, &eager.graphs, &eager.wholeGraphs,
          &eager.graphBytesPerRecurrentGraph, &eager.graphSequences})
      EXPECT_EQ(figure->value, 0) << name << " " << figure->path;
    EXPECT_GT(eager.hostTimeUs.value, captured.hostTimeUs.value) << name;
    // A step with prompts waits for the host once, not twice.
    EXPECT_LE(eager.hostTimeUs.value + eager.promptStepUs.value,
              captured.hostTimeUs.value + std::max(captured.promptStepUs.value,
                                                   captured.eagerStepUs.value))
        << name;
  }
}
