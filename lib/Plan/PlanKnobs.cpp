//===- PlanKnobs.cpp ------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Plan/PlanKnobs.h"

#include "KnobTypes.h"

#include "autopar/Support/Limits.h"

using namespace autopar;
using namespace autopar::placement;
using namespace autopar::plan;
using namespace autopar::plan::knobs;

//===----------------------------------------------------------------------===//
// Where the knobs lie in a plan
//===----------------------------------------------------------------------===//

namespace {

struct InPlan {
  static constexpr const char *group = "How to split";
  static constexpr bool makesProgram = true;
  static Plan &of(Plan &plan) { return plan; }
  static const Plan *find(const Plan &plan) { return &plan; }
};

struct InPipeline {
  static constexpr const char *group = "Pipeline";
  static constexpr bool makesProgram = false;
  static PipelinePlan &of(Plan &plan) { return plan.pipeline; }
  static const PipelinePlan *find(const Plan &plan) { return &plan.pipeline; }
};

struct InTraining {
  static constexpr const char *group = "Training";
  static constexpr bool makesProgram = true;
  static TrainingPlan &of(Plan &plan) { return plan.training; }
  static const TrainingPlan *find(const Plan &plan) { return &plan.training; }
};

struct InExperts {
  static constexpr const char *group = "Experts";
  static constexpr bool makesProgram = false;
  static ExpertPlan &of(Plan &plan) {
    if (!plan.expertPlacement)
      plan.expertPlacement.emplace();
    return *plan.expertPlacement;
  }
  static const ExpertPlan *find(const Plan &plan) {
    return plan.expertPlacement ? &*plan.expertPlacement : nullptr;
  }
};

struct InSources {
  static constexpr const char *group = "Experts";
  static constexpr bool makesProgram = false;
  static LoadSources &of(Plan &plan) { return InExperts::of(plan).sources; }
  static const LoadSources *find(const Plan &plan) {
    return plan.expertPlacement ? &plan.expertPlacement->sources : nullptr;
  }
};

template <typename Codec>
Json writeValue(const typename Codec::Type &value) {
  return Codec::write(value);
}
template <typename Codec>
Json writeValue(const std::optional<typename Codec::Type> &value) {
  return value ? Codec::write(*value) : Json();
}

template <typename T>
void assign(T &member, T value) {
  member = std::move(value);
}
template <typename T>
void assign(std::optional<T> &member, T value) {
  member = std::move(value);
}

/// A knob with setters for its optional properties.
struct Knob : PlanKnob {
  Knob &&under(const char *heading) && {
    group = heading;
    return std::move(*this);
  }
  Knob &&ofAllPlans() && {
    isOfAllPlans = true;
    return std::move(*this);
  }
  /// Marks a knob that changes how a program runs, but not the program itself.
  Knob &&ofRuns() && {
    makesProgram = false;
    return std::move(*this).ofAllPlans();
  }
  Knob &&ofPass(const char *name) && {
    pass = name;
    return std::move(*this);
  }
  Knob &&alsoCalled(const char *name) && {
    alias = name;
    aliasHelp = "The same as --" + std::string(flag);
    return std::move(*this);
  }
};

/// Makes the knob for `member` of the object that `Place` finds in a plan.
template <typename Codec, typename Place, auto member>
Knob knob(const char *flag, const char *key, const char *value,
          const char *help) {
  Knob made;
  made.flag = flag;
  made.key = key;
  made.value = value;
  made.help = help;
  made.group = Place::group;
  made.makesProgram = Place::makesProgram;
  made.set = [](Plan &plan,
                std::string_view text) -> std::optional<std::string> {
    auto parsed = Codec::parse(text);
    if (!parsed)
      return parsed.error().message;
    assign(Place::of(plan).*member, std::move(*parsed));
    return std::nullopt;
  };
  made.read = [](const JsonReader &object, std::string_view name, Plan &plan) {
    if (auto found = Codec::read(object, name); found && !object.failed())
      assign(Place::of(plan).*member, std::move(*found));
  };
  made.write = [](const Plan &plan) {
    const auto *place = Place::find(plan);
    static const std::decay_t<decltype(*place)> open;
    return place && place->*member != open.*member
               ? writeValue<Codec>(place->*member)
               : Json();
  };
  return made;
}

} // namespace

std::optional<std::string> autopar::plan::textOf(const PlanKnob &knob,
                                                 const Plan &plan) {
  Json value = knob.write(plan);
  if (value.is_null())
    return std::nullopt;
  return value.is_string() ? value.get<std::string>() : value.dump();
}

//===----------------------------------------------------------------------===//
// The table of all knobs
//===----------------------------------------------------------------------===//

static constexpr const char *prepareTraining = "autopar-prepare-training";
static constexpr const char *buildBackward = "autopar-build-backward";

const std::vector<PlanKnob> &autopar::plan::planKnobs() {
  static const std::vector<PlanKnob> knobs = {
      knob<Flag, InPlan, &Plan::sequenceParallel>(
          "shard-sp", "sequence_parallel", "true",
          "Sequence parallelism: tokens over tp where weights are whole; "
          "all-reduces become reduce-scatter + all-gather"),
      knob<Flag, InPlan, &Plan::fsdp>(
          "fsdp", "fsdp", "true",
          "Split parameters over the dp*cp replicas (experts: edp), or "
          "--shard-fsdp of them, and gather each layer before its use"),
      knob<Context, InPlan, &Plan::contextKind>(
          "cp-kind", "context_kind", "ring|all-to-all|all-gather",
          "Kind of context parallelism: ring (keys and values pass from rank "
          "to rank; default of inference), all-to-all (exchanges tokens for "
          "heads) or all-gather (gathers keys and values; default of "
          "training)"),
      knob<Flag, InPlan, &Plan::dispatchByNode>(
          "dispatch-by-node", "dispatch_by_node", "true",
          "Send a routed token once to each node that has one of its experts, "
          "and sum the results there before they return, as DeepEP does "
          "(default: send it once per expert)")
          .under("Experts"),
      knob<Format, InPlan, &Plan::dispatchDtype>(
          "dispatch-dtype", "dispatch_dtype", "format",
          "Format in which routed tokens are sent to experts; fp8 adds a scale "
          "per 128 values (default: that of activations)")
          .under("Experts"),
      knob<Count<1, limits::maxVirtualStages>, InPipeline,
           &PipelinePlan::interleave>("interleave", "pipeline.interleave", "N",
                                      "Virtual stages per device (default: 1)"),
      knob<Ranges, InPipeline, &PipelinePlan::stages>(
          "stages", "pipeline.stages", "first-last,...",
          "Layers of each pipeline stage, with --stage-pp: 0-19,20-40,... "
          "(default: balanced by cost)"),
      knob<Schedule, InPipeline, &PipelinePlan::schedule>(
          "schedule", "pipeline.schedule", "kind",
          "Order of microbatches: gpipe, one_f_one_b, interleaved, "
          "zero_bubble, dual_pipe, inference (default: inference, or "
          "interleaved)"),
      knob<Count<1, limits::maxScheduledTasks>, InPipeline,
           &PipelinePlan::microbatches>(
          "microbatches", "pipeline.microbatches", "N",
          "Microbatches that the batch is split into (default: the largest "
          "divisor of the batch up to the number of stages)"),
      knob<Count<1, limits::maxTokens>, InPipeline, &PipelinePlan::microBatch>(
          "micro-batch", "pipeline.micro_batch", "N",
          "Sequences of a replica in one microbatch, instead of --microbatches "
          "(default in training: 1)")
          .under("Training"),
      knob<Recomputing, InTraining, &TrainingPlan::recompute>(
          "recompute", "training.recompute", "none|selective|full|auto|...",
          "Activations recomputed in the backward pass instead of kept: none; "
          "selective (attention's core), or a list of attention_core, norms, "
          "mlp_activation, mlp, experts, shared_experts, mla_up; save_products "
          "(all but matrix products; save_products/2 keeps every second one); "
          "full (whole layers; full/2: every second one, full:8: eight per "
          "stage); auto (the least that fits) (default: none)")
          .ofPass(buildBackward),
      knob<Optimizing, InTraining, &TrainingPlan::optimizer>(
          "optimizer", "training.optimizer", "kind",
          "Optimizer, which sets the state kept per parameter: adamw (two "
          "numbers), adamw-8bit (two of 8 bits), adafactor (means of rows and "
          "columns), muon (one, for matrices), sgd (one), sgd-without-momentum "
          "(none) (default: adamw)")
          .ofAllPlans()
          .ofPass(buildBackward),
      knob<Count<0, 3>, InTraining, &TrainingPlan::zero>(
          "zero", "training.zero", "N",
          "ZeRO stage: shard over the replicas the optimizer state (1; "
          "Megatron's distributed optimizer), also gradients (2), also weights "
          "(3; as --fsdp) (default: 0)"),
      knob<Format, InTraining, &TrainingPlan::gradientFormat>(
          "gradient-format", "training.gradient_format", "format",
          "Format in which gradients are accumulated over microbatches "
          "(default: fp32)")
          .ofAllPlans()
          .ofPass(buildBackward),
      knob<NamedFormatOrNone, InTraining, &TrainingPlan::masterFormat>(
          "master-format", "training.master_format", "format|none",
          "Format of the master weights, which the optimizer updates (default: "
          "fp32; none where weights have that format)")
          .ofAllPlans(),
      knob<Format, InTraining, &TrainingPlan::stateFormat>(
          "state-format", "training.state_format", "format",
          "Format of the optimizer state beside the master weights (default: "
          "fp32)")
          .ofAllPlans(),
      knob<FormatOfProducts, InTraining, &TrainingPlan::productFormat>(
          "product-format", "training.product_format", "format",
          "Format in which products with weights are computed, forward and "
          "backward: fp8 or nvfp4 (default: that of activations)")
          .ofAllPlans(),
      knob<Share<true>, InTraining, &TrainingPlan::dropout>(
          "dropout", "training.dropout", "share",
          "Share of elements that dropout zeroes after linear layers and "
          "embeddings; the masks are kept for the backward pass (default: 0)")
          .ofAllPlans()
          .ofPass(prepareTraining),
      knob<CapacityFactor, InTraining, &TrainingPlan::expertCapacityFactor>(
          "expert-capacity-factor", "training.expert_capacity_factor", "factor",
          "Limit each expert to ceil(factor * tokens * top_k / experts) tokens "
          "per rank and microbatch; the rest are dropped (default: no limit)")
          .ofAllPlans(),
      knob<Flag, InTraining, &TrainingPlan::padsExpertsToCapacity>(
          "pad-experts-to-capacity", "training.pad_experts_to_capacity", "true",
          "Pad the rows of each expert to the capacity that "
          "--expert-capacity-factor gives")
          .ofAllPlans(),
      knob<Count<1, limits::maxConfigLayers>, InTraining,
           &TrainingPlan::mtpLayers>(
          "mtp-layers", "training.mtp_layers", "N",
          "Layers for multi-token prediction (MTP) after the last layer, each "
          "with a head and a loss (default: none)")
          .ofAllPlans()
          .ofPass(prepareTraining),
      knob<Flag, InTraining, &TrainingPlan::unfusedAttention>(
          "unfused-attention", "training.unfused_attention", "true",
          "Write attention probabilities to memory and keep them, as kernels "
          "before FlashAttention did")
          .ofAllPlans(),
      knob<Loss, InTraining, &TrainingPlan::loss>(
          "loss", "training.loss", "eager|in-place|compiled|fused",
          "How the loss is computed: eager (PyTorch's operators one after the "
          "other), in-place (in one fp32 copy of the logits, as Megatron "
          "does), compiled (kernels that a compiler fuses) or fused (one "
          "kernel that overwrites the logits with their gradient) (default: "
          "the runtime's)")
          .ofAllPlans()
          .ofPass(prepareTraining),
      knob<Count<1, limits::maxTokens>, InTraining, &TrainingPlan::lossChunks>(
          "loss-chunks", "training.loss_chunks", "N",
          "Compute logits, losses and gradients of logits in N chunks of the "
          "tokens, one after the other (default: 1)")
          .ofAllPlans()
          .ofPass(prepareTraining),
      knob<Policy, InExperts, &ExpertPlan::policy>(
          "place-experts", "expert_placement.policy",
          "block|round_robin|balanced",
          "How experts are placed on the devices of --shard-ep: block, "
          "round_robin or balanced (default: balanced with --expert-load or "
          "--expert-trace)"),
      knob<Count<0, limits::maxPlacedSlots>, InExperts, &ExpertPlan::redundant>(
          "redundant-experts", "expert_placement.redundant_experts", "N",
          "Slots for copies of the most loaded experts, over all devices "
          "(default: 0)"),
      knob<Flag, InExperts, &ExpertPlan::groupsInNode>(
          "expert-groups-in-node", "expert_placement.groups_in_node", "true",
          "Keep each group of experts that routers select from within one "
          "node"),
      knob<Share<true>, InExperts, &ExpertPlan::tolerance>(
          nullptr, "expert_placement.tolerance", "share",
          "Share by which the most loaded device may exceed the best balance, "
          "to save sends between nodes"),
      knob<File, InSources, &LoadSources::load>(
          "expert-load", "expert_placement.load", "file|zipf:1.0|...",
          "Tokens per expert and layer: a file (autopar.load/1, CSV), or even, "
          "zipf:1.0, log_normal:0.24; the most loaded device sets the step "
          "time")
          .ofAllPlans(),
      knob<File, InSources, &LoadSources::trace>(
          "expert-trace", "expert_placement.trace", "file",
          "Experts that each token was routed to (JSON lines, CSV), for a "
          "placement that saves sends to other nodes"),
      knob<Format, InPlan, &Plan::dtype>(
          "dtype", "dtype", "format",
          "Format of activations and products: bf16, fp16, fp32, fp8 (weights "
          "stay as stored)")
          .under("Formats")
          .ofAllPlans(),
      knob<FormatOrAuto, InPlan, &Plan::kvDtype>(
          "kv-format", "kv_dtype", "format|auto",
          "Format of the KV cache: bf16, fp8, q8_0, ...; auto: the "
          "checkpoint's, else the runtime's (default: auto)")
          .under("Formats")
          .ofAllPlans()
          .alsoCalled("kv-dtype"),
      knob<Share<false>, InPlan, &Plan::memoryUtilization>(
          "memory-utilization", "memory_utilization", "share",
          "The runtime's share of device memory, 0 to 1")
          .under("Machine and runtime")
          .ofRuns()
          .alsoCalled("gpu-memory-utilization"),
      knob<CountOrNone<limits::maxTokens>, InPlan, &Plan::prefillChunk>(
          "prefill-chunk", "prefill_chunk", "N|none",
          "Prompt tokens that a replica computes in one step; none: whole "
          "prompts (default: the runtime's)")
          .under("What to run")
          .ofRuns()
          .alsoCalled("max-num-batched-tokens"),
      knob<Count<1, limits::maxTokens>, InPlan, &Plan::maxSequences>(
          "max-num-seqs", "max_num_seqs", "N",
          "Sequences that a replica runs at once, at most; sizes captured "
          "graphs and the sampler's memory (default: the runtime's)")
          .under("What to run")
          .ofRuns(),
      knob<Flag, InPlan, &Plan::eager>(
          "enforce-eager", "enforce_eager", "true",
          "Capture no graphs: saves their memory, but each step waits for the "
          "host to launch its kernels")
          .under("Machine and runtime")
          .ofRuns(),
  };
  return knobs;
}
