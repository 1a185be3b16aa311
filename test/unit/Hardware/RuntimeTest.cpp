//===- RuntimeTest.cpp --------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Runtime/Runtime.h"
#include "Fixtures.h"

using namespace autopar;
using namespace autopar::test;

using RuntimeTest = LibraryTest;

TEST_F(RuntimeTest, EveryRuntimeLoads) {
  EXPECT_EQ(runtimeNames(),
            (std::vector<std::string>{"ideal", "sglang", "trtllm", "vllm"}));
  std::vector<bool> used;
  for (const std::string &name : runtimeNames()) {
    Result<Runtime> runtime = readRuntime(name, {}, used);
    ASSERT_TRUE(runtime) << runtime.error().str();
    EXPECT_EQ(runtime->name, name);
    EXPECT_EQ(runtime->ideal, name == "ideal");
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
            "available: ideal, sglang, trtllm, vllm; or the path of a file of "
            "your own");
  std::string path =
      edited("runtimes/vllm.json", "\"value\": 16", "\"value\": 16.5");
  EXPECT_EQ(withoutFolder(readRuntime(path, {}, used)),
            "vllm.json: /kv_block_tokens/value: expected a whole number, "
            "found 16.5");
  path = edited("runtimes/vllm.json", "fraction_of_total", "all_of_it");
  EXPECT_EQ(withoutFolder(readRuntime(path, {}, used)),
            "vllm.json: /budget_rule: expected \"fraction_of_total\" or "
            "\"fraction_of_free\", found "
            "\"all_of_it\"");
}
