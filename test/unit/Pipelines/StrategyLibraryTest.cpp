//===- StrategyLibraryTest.cpp --------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Pipelines/StrategyLibrary.h"

#include "autopar/Analysis/CostProgramAnalysis.h"
#include "autopar/Import/LoadModel.h"
#include "autopar/InitAll.h"
#include "autopar/Pipelines/Pipelines.h"

#include "mlir/IR/DialectRegistry.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <thread>

using namespace autopar;
using namespace autopar::analysis;
using namespace autopar::cost;
using namespace autopar::hardware;
using namespace autopar::importer;
using namespace autopar::pipelines;
using namespace autopar::placement;
using namespace autopar::plan;
using namespace autopar::program;
using namespace autopar::runtime;
using namespace autopar::transforms;
using namespace mlir;

namespace {

struct StrategyLibraryTest : testing::Test {
  StrategyLibraryTest()
      : context(makeRegistry(), MLIRContext::Threading::DISABLED) {
    setenv("AUTOPAR_DATA", AUTOPAR_SOURCE_DIR, /*overwrite=*/1);
    llvm::sys::fs::createUniqueDirectory("strategies", directory);
    runtime.vocabularyMultiple.value = 64;
    runtime.fusesElementwise = runtime.mergesSharedInput = true;
  }
  ~StrategyLibraryTest() override {
    llvm::sys::fs::remove_directories(directory);
  }

  static DialectRegistry makeRegistry() {
    DialectRegistry registry;
    registerAllDialects(registry);
    return registry;
  }

  OwningOpRef<ModuleOp> load(const std::string &name) {
    ModelRequest request;
    request.argument = AUTOPAR_SOURCE_DIR "/models/" + name;
    auto module = loadModel(&context, request);
    EXPECT_TRUE(module) << module.error().str();
    return std::move(*module);
  }
  static LogicalResult onError(const Twine &error) {
    ADD_FAILURE() << error.str();
    return failure();
  }
  /// Runs the passes of an estimate.
  void apply(const std::string &flags, ModuleOp module) {
    PassManager pm(&context);
    PlanOptions options;
    ASSERT_TRUE(succeeded(options.parseFromString(flags)));
    ASSERT_TRUE(succeeded(addPlanPipeline(pm, options, onError)));
    ASSERT_TRUE(succeeded(pm.run(module)));
  }
  /// The program of `module` as an estimate reads it.
  std::string extract(ModuleOp module, const std::string &flags) {
    OwningOpRef<ModuleOp> copy = module.clone();
    apply(flags, *copy);
    CostProgramAnalysis analysis(*copy);
    EXPECT_TRUE(analysis.isValid());
    return toJson(analysis.getProgram());
  }
  static Plan planOf(const std::string &flags) {
    PlanOptions options;
    EXPECT_TRUE(succeeded(options.parseFromString(flags)));
    FailureOr<Plan> plan = readPlanOptions(options, onError);
    EXPECT_TRUE(succeeded(plan));
    return *plan;
  }
  std::string onlyFile() const {
    std::error_code error;
    llvm::sys::fs::directory_iterator file(directory, error), end;
    EXPECT_FALSE(error || file == end);
    return file->path();
  }

  MLIRContext context;
  Runtime runtime;
  llvm::SmallString<128> directory;
};

const char *const strategies[] = {
    "shard-tp=8",
    "shard-tp=4 shard-dp=2 shard-sp",
    "shard-tp=8 shard-dp=8 shard-ep=64",
    "shard-tp=4 shard-dp=4 shard-ep=8",
    "shard-tp=8 shard-attention-tp=2 shard-dcp=2",
    "shard-tp=2 shard-cp=4 shard-dp=2 fsdp",
    "shard-cp=2 cp-kind=all-to-all shard-tp=2 shard-ep=4",
    "shard-dp=16 shard-ep=16 redundant-experts=32",
    "shard-tp=8 kv-dtype=fp8",
};

} // namespace

TEST_F(StrategyLibraryTest, HasThePrograms) {
  for (const char *name : {"deepseek-v3", "qwen3-30b-a3b"}) {
    OwningOpRef<ModuleOp> module = load(name);
    apply("phase=decode batch=64 context=4096", *module);
    StrategyLibrary library(*module, runtime);
    for (const char *flags : strategies) {
      CompiledProgram *found = library.find(planOf(flags));
      ASSERT_TRUE(found) << flags;
      EXPECT_EQ(toJson(found->program()), extract(*module, flags)) << flags;
    }
    EXPECT_EQ(library.madeCount(), std::size(strategies));
    // Other sizes, the same strategy.
    CompiledProgram *again = library.find(planOf("shard-tp=2"));
    EXPECT_EQ(again, library.find(planOf("shard-tp=8")));
    EXPECT_EQ(library.madeCount(), std::size(strategies));
  }
}

/// How many devices share them says where they lie, here and when it is read.
TEST_F(StrategyLibraryTest, PlacedExpertsHaveTheLoads) {
  OwningOpRef<ModuleOp> module = load("qwen3-30b-a3b");
  apply("phase=decode batch=64 context=4096", *module);
  LoadProfile profile{128, std::vector<LayerLoads>(48)};
  for (int64_t layer = 0; layer < 48; ++layer)
    profile.layers[layer] = {layer, std::vector<double>(128, 1)};
  auto loads = std::make_shared<ExpertPlacer>(std::move(profile),
                                              PlacementPolicy::block);
  Plan even = planOf("shard-dp=16 shard-ep=16"), placed = even;
  placed.expertPlacement.emplace().redundant = 16;
  for (size_t made : {2, 0}) {
    StrategyLibrary library(*module, runtime, directory.str().str(), loads);
    CompiledProgram *found = library.find(placed);
    ASSERT_TRUE(found);
    ASSERT_TRUE(found->step().placement);
    EXPECT_EQ(found->step().placement->placer, loads);
    Plan more = placed;
    more.expertPlacement->redundant = 32;
    EXPECT_EQ(library.find(more), found);
    EXPECT_EQ(found->step().placement->layers.size(), 48u);
    EXPECT_EQ(found->program().placement, found->step().placement);
    EXPECT_EQ(found->serving().placement, found->step().placement);
    EXPECT_FALSE(library.find(even)->step().placement);
    EXPECT_EQ(library.madeCount(), made);
    ASSERT_TRUE(library.save());
  }
}

/// Each takes the module that its passes leave, with which others begin.
TEST_F(StrategyLibraryTest, OrderDoesNotMatter) {
  const std::string dense = "shard-tp=4 shard-dp=2", experts = " shard-ep=2";
  const std::vector<std::string> all = {
      dense,
      dense + " shard-sp",
      dense + " fsdp",
      dense + " shard-sp fsdp",
      dense + experts,
      dense + experts + " shard-sp",
      dense + experts + " shard-sp dispatch-by-node",
      dense + experts + " shard-sp fsdp",
  };
  OwningOpRef<ModuleOp> module = load("qwen3-30b-a3b");
  apply("phase=decode batch=64 context=4096", *module);
  StrategyLibrary rising(*module, runtime), falling(*module, runtime);
  for (size_t i = 0; i < all.size(); ++i) {
    Plan up = planOf(all[i]), down = planOf(all[all.size() - 1 - i]);
    ASSERT_TRUE(rising.find(up) && falling.find(down));
  }
  for (const std::string &flags : all) {
    std::string expected = extract(*module, flags);
    EXPECT_EQ(toJson(rising.find(planOf(flags))->program()), expected) << flags;
    EXPECT_EQ(toJson(falling.find(planOf(flags))->program()), expected)
        << flags;
  }
}

/// All but one thread make programs in contexts of their own.
TEST_F(StrategyLibraryTest, ThreadsMakeTheSamePrograms) {
  OwningOpRef<ModuleOp> module = load("deepseek-v3");
  apply("phase=decode batch=64 context=4096", *module);
  StrategyLibrary alone(*module, runtime), shared(*module, runtime);
  constexpr size_t count = std::size(strategies);
  std::array<CompiledProgram *, count> found = {};
  std::vector<std::thread> threads;
  for (size_t i = 0; i < count; ++i)
    threads.emplace_back(
        [&, i] { found[i] = shared.find(planOf(strategies[i])); });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(shared.madeCount(), count);
  for (size_t i = 0; i < count; ++i) {
    CompiledProgram *expected = alone.find(planOf(strategies[i]));
    ASSERT_TRUE(found[i] && expected) << strategies[i];
    EXPECT_EQ(found[i]->toBytes(), expected->toBytes()) << strategies[i];
    EXPECT_EQ(shared.find(planOf(strategies[i])), found[i]);
  }
}

TEST_F(StrategyLibraryTest, ReadsWhatItWrote) {
  OwningOpRef<ModuleOp> module = load("qwen3-30b-a3b");
  apply("phase=decode batch=64 context=4096", *module);
  std::string path = directory.str().str();
  Plan plan = planOf("shard-tp=4 shard-dp=2 shard-ep=8");
  StrategyLibrary first(*module, runtime, path);
  CompiledProgram *made = first.find(plan);
  ASSERT_TRUE(made);
  ASSERT_TRUE(first.save());

  StrategyLibrary second(*module, runtime, path);
  CompiledProgram *read = second.find(plan);
  ASSERT_TRUE(read);
  EXPECT_EQ(second.madeCount(), 0u);
  EXPECT_EQ(made->toBytes(), read->toBytes());
  EXPECT_EQ(toJson(made->program()), toJson(read->program()));
  // Parts are compiled where somebody asks for them, and then kept, too.
  EXPECT_EQ(made->parts().slots, read->parts().slots);
  EXPECT_FALSE(read->isStored());
  ASSERT_TRUE(second.save());
  StrategyLibrary third(*module, runtime, path);
  EXPECT_EQ(third.find(plan)->parts().slots, made->parts().slots);
  EXPECT_TRUE(third.find(plan)->isStored());
}

TEST_F(StrategyLibraryTest, OtherModulesAndRuntimesHaveOtherFiles) {
  OwningOpRef<ModuleOp> module = load("qwen3-30b-a3b");
  apply("phase=decode batch=64 context=4096", *module);
  std::string path = directory.str().str();
  StrategyLibrary first(*module, runtime, path);
  ASSERT_TRUE(first.find(planOf("shard-tp=4")));
  ASSERT_TRUE(first.save());
  runtime.fusesElementwise = false;
  StrategyLibrary other(*module, runtime, path);
  ASSERT_TRUE(other.find(planOf("shard-tp=4")));
  EXPECT_EQ(other.madeCount(), 1u);
}

TEST_F(StrategyLibraryTest, MakesAnewWhatABrokenFileHad) {
  OwningOpRef<ModuleOp> module = load("qwen3-30b-a3b");
  apply("phase=decode batch=64 context=4096", *module);
  std::string path = directory.str().str();
  Plan plan = planOf("shard-tp=4");
  StrategyLibrary first(*module, runtime, path);
  std::string bytes = first.find(plan)->toBytes();
  ASSERT_TRUE(first.save());
  auto file = llvm::MemoryBuffer::getFile(onlyFile());
  ASSERT_TRUE(file);
  std::string text = (*file)->getBuffer().str();
  std::string flipped = text;
  flipped[text.size() / 2] ^= 1;
  for (const std::string &broken :
       {std::string(), text.substr(0, 10), text.substr(0, text.size() / 2),
        flipped, text + "more"}) {
    std::ofstream(onlyFile(), std::ios::binary | std::ios::trunc) << broken;
    StrategyLibrary library(*module, runtime, path);
    EXPECT_EQ(library.find(plan)->toBytes(), bytes);
    EXPECT_EQ(library.madeCount(), 1u);
  }
}

/// Which toJson does not show, and stages are priced by.
TEST(CompiledProgram, BytesHaveWhatStagesShare) {
  CostProgram program;
  program.layers.resize(2);
  program.collectives.resize(1);
  program.collectives[0].count = 0;
  program.collectives[0].readers = {1};
  program.stack.outputs.resize(1);
  std::string bytes = CompiledProgram(program, {}).toBytes();
  std::optional<CompiledProgram> read = CompiledProgram::fromBytes(bytes);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->program().collectives[0].readers,
            program.collectives[0].readers);
  EXPECT_EQ(read->program().stack.outputs.size(), 1u);
}

TEST(CompiledProgram, BytesThatAreCutShortAreNone) {
  CostProgram program;
  program.layers = {{"model", 1}};
  program.axes = {"tp"};
  std::string bytes = CompiledProgram(program, {}).toBytes();
  EXPECT_TRUE(CompiledProgram::fromBytes(bytes));
  for (size_t size = 0; size < 16; ++size)
    EXPECT_FALSE(CompiledProgram::fromBytes(bytes.substr(0, size))) << size;
}
