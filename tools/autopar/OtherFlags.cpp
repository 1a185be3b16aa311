//===- OtherFlags.cpp -----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OtherFlags.h"

#include <algorithm>
#include <cctype>

using namespace autopar;

static constexpr const char *lengthNote =
    "autopar has no maximum length: it prices the lengths of --prompt, "
    "--context and --output-tokens";
static constexpr const char *formatNote =
    "append the weight format to the model, as in llama-3.1-8b:fp8 or :awq-4";
static constexpr const char *deviceNote =
    "the degrees, as in --shard-tp=8, set the number of devices; --nodes adds "
    "machines";
static constexpr const char *adapterNote =
    "adapters are not part of an estimate yet; they are planned as --adapters";
static constexpr const char *offloadNote =
    "every estimate keeps weights and caches in device memory";
static constexpr const char *expertNote =
    "--shard-ep=N sets the number of devices that share the experts";

static constexpr OtherFlag otherFlags[] = {
    // Flags about degrees of parallelism
    {"tensor-parallel-size", "shard-tp", ""},
    {"tensor-model-parallel-size", "shard-tp", ""},
    {"tp-size", "shard-tp", ""},
    {"tp", "shard-tp", ""},
    {"pipeline-parallel-size", "stage-pp", ""},
    {"pipeline-model-parallel-size", "stage-pp", ""},
    {"pp-size", "stage-pp", ""},
    {"pp", "stage-pp", ""},
    {"data-parallel-size", "shard-dp", ""},
    {"dp-size", "shard-dp", ""},
    {"dp", "shard-dp", ""},
    {"expert-parallel-size", "shard-ep", ""},
    {"expert-model-parallel-size", "shard-ep", ""},
    {"expert-tensor-parallel-size", "shard-etp", ""},
    {"ep-size", "shard-ep", ""},
    {"ep", "shard-ep", ""},
    {"enable-expert-parallel", "shard-ep", expertNote},
    {"decode-context-parallel-size", "shard-dcp", ""},
    {"context-parallel-size", "shard-cp", ""},
    {"prefill-context-parallel-size", "shard-cp", ""},
    {"sequence-parallel", "shard-sp", ""},
    // Flags about machines
    {"gpu", "hardware", ""},
    {"machine", "hardware", ""},
    {"system", "hardware", ""},
    {"gpus", "", deviceNote},
    {"num-gpus", "", deviceNote},
    {"devices", "", deviceNote},
    {"nnodes", "nodes", ""},
    {"backend", "runtime", ""},
    {"engine", "runtime", ""},
    // Flags about lengths of requests and load
    {"isl", "prompt", ""},
    {"input-len", "prompt", ""},
    {"random-input-len", "prompt", ""},
    {"osl", "output-tokens", ""},
    {"output-len", "output-tokens", ""},
    {"random-output-len", "output-tokens", ""},
    {"max-tokens", "output-tokens", ""},
    {"max-new-tokens", "output-tokens", ""},
    {"seq-len", "context", ""},
    {"seq-length", "context", ""},
    {"sequence-length", "context", ""},
    {"max-model-len", "context", lengthNote},
    {"max-seq-len", "context", lengthNote},
    {"context-length", "context", lengthNote},
    {"qps", "rate", ""},
    {"rps", "rate", ""},
    {"request-rate", "rate", ""},
    {"max-concurrency", "concurrency", ""},
    // Flags about the memory of an engine
    {"max-running-requests", "max-num-seqs", ""},
    {"max-batch-size", "max-num-seqs", ""},
    {"cuda-graph-max-bs", "max-num-seqs",
     "graphs are captured up to the sequences that run at once"},
    {"disable-cuda-graph", "enforce-eager", ""},
    {"chunked-prefill-size", "prefill-chunk", ""},
    {"max-num-tokens", "prefill-chunk", ""},
    {"max-prefill-tokens", "prefill-chunk", ""},
    {"mem-fraction-static", "memory-utilization", ""},
    {"free-gpu-memory-fraction", "memory-utilization", ""},
    {"kv-cache-free-gpu-memory-fraction", "memory-utilization", ""},
    {"kv-cache-dtype", "kv-dtype", ""},
    {"block-size", "set", "--set=runtimes.vllm.kv_block_tokens=32 sets it"},
    {"page-size", "set", "--set=runtimes.sglang.kv_block_tokens=64 sets it"},
    {"enable-prefix-caching", "prefix-hits",
     "--prefix-hits=0.5 sets the share of prompt tokens that hit the cache"},
    {"num-speculative-tokens", "acceptance",
     "--acceptance=0.8 sets the share of draft tokens that are accepted"},
    {"speculative-config", "acceptance",
     "--acceptance=0.8 sets the share of draft tokens that are accepted"},
    // Flags about formats of weights
    {"quantization", "", formatNote},
    {"quant", "", formatNote},
    {"load-format", "", formatNote},
    {"lora", "", adapterNote},
    {"lora-rank", "", adapterNote},
    {"lora-r", "", adapterNote},
    {"max-lora-rank", "", adapterNote},
    {"max-loras", "", adapterNote},
    {"lora-modules", "", adapterNote},
    {"enable-lora", "", adapterNote},
    {"offload", "", offloadNote},
    {"cpu-offload-gb", "", offloadNote},
    {"swap-space", "", offloadNote},
    // Flags of training frameworks
    {"global-batch-size", "batch", ""},
    {"train-batch-size", "batch", ""},
    {"micro-batch-size", "micro-batch", ""},
    {"per-device-train-batch-size", "micro-batch", ""},
    {"recompute-granularity", "recompute", ""},
    {"gradient-checkpointing", "recompute", ""},
    {"activation-checkpointing", "recompute", ""},
    {"zero-stage", "zero", ""},
};

std::string autopar::bareName(const std::string &name) {
  std::string bare;
  for (unsigned char c : name)
    if (std::isalnum(c))
      bare += static_cast<char>(std::tolower(c));
  return bare;
}

const OtherFlag *autopar::findOtherFlag(const std::string &name) {
  auto found = std::find_if(std::begin(otherFlags), std::end(otherFlags),
                            [&](const OtherFlag &flag) {
                              return bareName(flag.name) == bareName(name);
                            });
  return found == std::end(otherFlags) ? nullptr : found;
}
