//===- FaultsTest.cpp - Executions that go wrong are noticed --------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The text of a module is right, what is done is not: the interpreter's own
// checks, or the comparison with the unsplit module, must notice it.
//
// A fault that goes unnoticed may be one that nobody can see: what it changed
// is never read. To show that, the same elements are changed to large numbers;
// where that is noticed, the fault should have been.
//
//===----------------------------------------------------------------------===//

#include "Faults.h"

#include "autopar/Dialect/Parallel/Parallel.h"
#include "autopar/Import/LoadModel.h"
#include "autopar/InitAll.h"
#include "autopar/Interfaces/Interfaces.h"
#include "autopar/Interpreter/Compare.h"
#include "autopar/Pipelines/Pipelines.h"

#include "mlir/IR/DialectRegistry.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <random>

using namespace autopar;
using namespace autopar::hardware;
using namespace autopar::importer;
using namespace autopar::interpreter;
using namespace autopar::model;
using namespace autopar::pipelines;
using namespace autopar::placement;
using namespace autopar::plan;
using namespace autopar::program;
using namespace autopar::schedule;
using namespace mlir;

namespace {

/// A small model, how it is split, and how many faults there must be.
struct Case {
  const char *name, *config, *plan;
  int least;
  bool trains = false;
};

#define COMMON                                                                 \
  R"("hidden_size": 32, "vocab_size": 60, "num_hidden_layers": 2,
     "head_dim": 4, "num_attention_heads": 8, "intermediate_size": 32,
     "max_position_embeddings": 64, "torch_dtype": "bfloat16", )"
#define LLAMA                                                                  \
  "{" COMMON R"("architectures": ["LlamaForCausalLM"], "model_type": "llama",
     "num_key_value_heads": 2})"
#define QWEN3                                                                  \
  "{" COMMON R"("architectures": ["Qwen3ForCausalLM"], "model_type": "qwen3",
     "num_key_value_heads": 4})"
#define MIXTRAL                                                                \
  "{" COMMON R"("architectures": ["MixtralForCausalLM"],
     "model_type": "mixtral", "num_key_value_heads": 2,
     "num_local_experts": 8, "num_experts_per_tok": 2})"
#define DEEPSEEK                                                               \
  "{" COMMON R"("architectures": ["DeepseekV32ForCausalLM"],
     "model_type": "deepseek_v32", "num_key_value_heads": 8,
     "q_lora_rank": 16, "kv_lora_rank": 12, "qk_nope_head_dim": 6,
     "qk_rope_head_dim": 4, "v_head_dim": 8, "first_k_dense_replace": 1,
     "n_routed_experts": 8, "n_shared_experts": 1, "n_group": 4,
     "topk_group": 2, "num_experts_per_tok": 2, "moe_intermediate_size": 16,
     "scoring_func": "sigmoid", "topk_method": "noaux_tc",
     "index_n_heads": 4, "index_head_dim": 8, "index_topk": 3})"
#define MAMBA2                                                                 \
  R"({"architectures": ["Mamba2ForCausalLM"], "model_type": "mamba2",
     "hidden_size": 32, "vocab_size": 60, "num_hidden_layers": 2,
     "torch_dtype": "bfloat16", "num_heads": 8, "head_dim": 8,
     "state_size": 4, "n_groups": 2, "conv_kernel": 4, "expand": 2})"
#define QWEN3_NEXT                                                             \
  "{" COMMON R"("architectures": ["Qwen3NextForCausalLM"],
     "model_type": "qwen3_next", "num_key_value_heads": 2,
     "full_attention_interval": 2, "linear_conv_kernel_dim": 4,
     "linear_key_head_dim": 4, "linear_value_head_dim": 4,
     "linear_num_key_heads": 4, "linear_num_value_heads": 8,
     "moe_intermediate_size": 16, "shared_expert_intermediate_size": 16,
     "num_experts": 8, "num_experts_per_tok": 2,
     "partial_rotary_factor": 0.5, "decoder_sparse_step": 1,
     "mlp_only_layers": []})"
#define GPT2                                                                   \
  R"({"architectures": ["GPT2LMHeadModel"], "model_type": "gpt2",
     "n_embd": 32, "n_head": 8, "n_layer": 4, "n_positions": 64,
     "vocab_size": 60, "torch_dtype": "bfloat16"})"

const Case cases[] = {
    {"LlamaTp", LLAMA, "shard-tp=2 shard-dp=2", 10},
    {"LlamaSp", LLAMA, "shard-tp=4 shard-sp", 10},
    {"LlamaRing", LLAMA, "shard-cp=2 shard-tp=2", 10},
    {"LlamaUlysses", LLAMA, "shard-cp=2 cp-kind=all-to-all", 10},
    {"LlamaDcp", LLAMA, "shard-tp=4 shard-dcp=2", 10},
    {"Qwen3Fsdp", QWEN3, "shard-dp=2 fsdp shard-tp=2", 10},
    {"MixtralEp", MIXTRAL, "shard-ep=2 shard-tp=2 shard-dp=2", 10},
    {"DeepseekSp", DEEPSEEK, "shard-tp=2 shard-sp", 10},
    {"DeepseekEp", DEEPSEEK, "shard-ep=4 shard-dp=4", 10},
    {"Mamba2", MAMBA2, "shard-tp=2", 10},
    {"Qwen3Next", QWEN3_NEXT, "shard-tp=2 shard-dp=2", 10},
    {"LlamaStages", LLAMA, "stage-pp=2 shard-tp=2 shard-sp microbatches=2", 16},
    {"MixtralStages", MIXTRAL,
     "stage-pp=2 shard-ep=2 shard-dp=2 microbatches=2", 16},
    {"GptRounds", GPT2, "stage-pp=2 interleave=2 microbatches=4 shard-cp=2",
     16},
    {"GptTraining", GPT2, "stage-pp=2 shard-tp=2 microbatches=2", 16, true},
    {"MixtralTraining", MIXTRAL,
     "stage-pp=2 shard-ep=2 shard-dp=2 zero=1 microbatches=2", 16, true},
    {"GptTrainingRounds", GPT2, "stage-pp=2 interleave=2 microbatches=4", 10,
     true},
};

/// Faults of a kind at ops of a name: so many, of so many that are tried.
constexpr int faultsOfKind = 2, mostTries = 8;

struct Faults : testing::TestWithParam<Case> {
  Faults() : context(makeRegistry(), MLIRContext::Threading::DISABLED) {
    setenv("AUTOPAR_DATA", AUTOPAR_SOURCE_DIR, /*overwrite=*/1);
    context.loadAllAvailableDialects();
  }
  static DialectRegistry makeRegistry() {
    DialectRegistry registry;
    registerAllDialects(registry);
    registerExecution(registry);
    return registry;
  }
  static LogicalResult onError(const Twine &error) {
    ADD_FAILURE() << error.str();
    return failure();
  }

  /// Makes both modules, and runs the unsplit one.
  void SetUp() override {
    Result<JsonDocument> config =
        JsonDocument::parse(GetParam().config, "config.json");
    ASSERT_TRUE(config) << config.error().str();
    Result<Model> model = readModel(std::move(*config), "config.json");
    ASSERT_TRUE(model) << model.error().str();
    auto imported = buildModel(&context, *model);
    ASSERT_TRUE(imported) << imported.error().str();
    whole = std::move(*imported);
    split = whole->clone();
    bool trains = GetParam().trains;
    std::string step = trains ? "phase=train" : "phase=prefill";
    plan(*split, GetParam().plan + (" " + step));
    if (trains)
      plan(*whole, step);
    // Two iterations; or a prompt in two chunks, and a decode.
    int64_t context = 0;
    for (int64_t query : {4, 3, 1}) {
      context += query;
      steps.push_back(
          {query == 1 ? Phase::decode : Phase::prefill, 4, query, context});
    }
    if (trains)
      steps.assign(2, {Phase::train, 4, 4, 4});
    // Each has run the steps up to its own.
    for (size_t count = 1; count <= steps.size(); ++count) {
      auto &run = wholes.emplace_back(std::make_unique<Execution>(*whole));
      for (size_t i = 0; i < count; ++i)
        ASSERT_TRUE(succeeded(run->run(steps[i], /*traced=*/true)));
    }
  }

  void plan(ModuleOp module, const std::string &flags) {
    PassManager pm(&context);
    PlanOptions options;
    ASSERT_TRUE(
        succeeded(options.parseFromString(flags + " batch=4 prompt=4")));
    ASSERT_TRUE(succeeded(addPlanPipeline(pm, options, onError)));
    ASSERT_TRUE(succeeded(pm.run(module)));
  }

  /// What notices that `executor` does something else; "" where nothing does.
  std::string noticedBy(Executor &executor) {
    std::string said;
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      if (said.empty())
        said = diagnostic.str();
    });
    Execution run(*split, InputRule::step, &executor);
    for (auto [step, plain] : llvm::zip(steps, wholes)) {
      if (failed(run.run(step, /*traced=*/true)))
        return kindOf(said);
      if (failed(haveSameResults(run, *plain)))
        return "shapes of results";
      if (auto difference = findDifference(run, *plain, 1e-9))
        return difference->op ? "values" : "results";
      if (!run.isTraining())
        continue;
      auto difference = findTrainingDifference(run, *plain, 1e-9);
      if (failed(difference))
        return kindOf(said);
      if (!difference->empty())
        return "gradients or weights";
    }
    return "";
  }
  static std::string kindOf(const std::string &said) {
    for (const char *check :
         {"should have the same", "padding is used", "rows", "its type says",
          "never sees token", "two parts of the cache",
          "no device of the group", "differ in shape", "did not send it",
          "does not compute", "has not saved", "on another stage",
          "neither reads it", "is sent", "twice", "waits for", "never runs"})
      if (said.find(check) != std::string::npos)
        return check;
    return said;
  }

  /// By the name of the op and the kind of the fault.
  std::map<std::pair<std::string, FaultKind>, std::vector<Site>> findSites() {
    auto stages = split->getOps<parallel::StagesOp>();
    Counter counter(stages.empty() ? nullptr
                                   : (*stages.begin()).getOperation());
    EXPECT_EQ(noticedBy(counter), "") << "without any fault";
    std::map<std::pair<std::string, FaultKind>, std::vector<Site>> sites;
    for (auto [op, times] : counter.times)
      for (int kind = 0; kind < faultKinds; ++kind)
        if (canHave(op, FaultKind(kind)))
          for (int64_t time = 0; time < times; ++time)
            sites[{op->getName().getStringRef().str(), FaultKind(kind)}]
                .push_back({op, time});
    return sites;
  }
  Fault draw(FaultKind kind, const std::vector<Site> &sites) {
    Fault fault;
    fault.kind = kind;
    fault.site = sites[random() % sites.size()];
    int64_t devices = wholeGrid()->size();
    fault.peer = static_cast<int64_t>(random() % devices);
    fault.victim = static_cast<int64_t>(random() % devices);
    if (random() % 2 && kind != FaultKind::strayRow)
      fault.victim = -1;
    return fault;
  }
  FailureOr<DeviceGrid> wholeGrid() {
    return DeviceGrid::create(*split, steps.front());
  }

  /// Executes one fault. False where it changes nothing.
  bool execute(const std::string &op, Fault fault) {
    Saboteur saboteur(fault);
    std::string by = noticedBy(saboteur);
    if (!saboteur.hasChanged()) {
      EXPECT_EQ(by, "") << "a fault that changes nothing";
      return false;
    }
    if (by.empty()) {
      fault.poisons = true;
      Saboteur poisoner(fault);
      EXPECT_EQ(noticedBy(poisoner), "")
          << op << ": " << nameOf(fault.kind).str() << ", the "
          << fault.site.time << "th time, victim " << fault.victim << ", peer "
          << fault.peer << ": what it changes is read, and nothing noticed it";
      by = "nobody: it is never read";
    }
    ++tally[{nameOf(fault.kind).str(), by}];
    return true;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> whole, split;
  std::vector<Workload> steps;
  std::vector<std::unique_ptr<Execution>> wholes;
  /// Always the same.
  std::mt19937 random{12};
  std::map<std::pair<std::string, std::string>, int> tally;
};

} // namespace

TEST_P(Faults, AreNoticed) {
  for (const auto &[what, sites] : findSites())
    for (int tries = 0, found = 0; tries < mostTries && found < faultsOfKind;
         ++tries)
      found += execute(what.first, draw(what.second, sites));
  int noticed = 0;
  for (const auto &[what, count] : tally) {
    noticed += what.second.rfind("nobody", 0) == 0 ? 0 : count;
    std::cout << count << " " << what.first << ": " << what.second << "\n";
  }
  EXPECT_GE(noticed, GetParam().least);
}

INSTANTIATE_TEST_SUITE_P(Splits, Faults, testing::ValuesIn(cases),
                         [](const testing::TestParamInfo<Case> &info) {
                           return info.param.name;
                         });
