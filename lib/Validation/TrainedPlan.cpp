//===- TrainedPlan.cpp ---------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Validation/TrainedPlan.h"

#include "RowReader.h"

#include "autopar/Support/Checked.h"
#include "autopar/Support/Text.h"
#include "autopar/Support/Words.h"

#include <algorithm>

using namespace autopar;
using namespace autopar::program;
using namespace autopar::validation;

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

const char *autopar::validation::nameOf(TrainingRuntime runtime) {
  static const char *const names[] = {"megatron", "megatron-deepspeed", "nemo",
                                      "fsdp", "fsdp2"};
  return names[size_t(runtime)];
}

const char *autopar::validation::nameOf(TrainingFormat format) {
  static const char *const names[] = {"fp16", "bf16", "fp8", "mxfp8", "nvfp4"};
  return names[size_t(format)];
}

/// Whether `text` has any of `words`, ignoring case.
static bool says(const std::string &text,
                 std::initializer_list<const char *> words) {
  std::string small = lower(text);
  return std::any_of(words.begin(), words.end(), [&](const char *word) {
    return small.find(word) != std::string::npos;
  });
}

std::optional<TrainingFormat>
autopar::validation::trainingFormatOf(const std::string &precision) {
  // For "bf16 + float8 linears" matmuls use the narrowest format.
  if (says(precision, {"fp4"}))
    return TrainingFormat::nvfp4;
  if (says(precision, {"mxfp8", "fp8-mx"}))
    return TrainingFormat::mxfp8;
  if (says(precision, {"fp8", "float8"}))
    return TrainingFormat::fp8;
  if (says(precision, {"bf16", "bfloat16"}))
    return TrainingFormat::bf16;
  if (says(precision, {"fp16", "float16"}))
    return TrainingFormat::fp16;
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Frameworks
//===----------------------------------------------------------------------===//

/// FSDP of JAX, which recomputes layers unless it is told not to.
static bool isJax(const TrainingRow &row) {
  return says(row.source, {"maxtext", "paxml"});
}

static bool isMegatron(const TrainingRow &row) {
  return says(row.source, {"megatron", "nemo", "dgxc-benchmarking"});
}

/// Performance recipes of NeMo, Megatron Bridge's today.
static bool isOfNemo(const TrainingRow &row) {
  return !isJax(row) &&
         says(row.source, {"nemo", "megatron-bridge", "dgxc-benchmarking"});
}

/// Recipes of NVIDIA's, which split optimizer states and sequences.
static bool isRecipe(const TrainingRow &row) {
  return says(row.source, {"nemo", "megatron-bridge", "dgxc-benchmarking",
                           "megatron-lm examples"});
}

/// Before sequence parallelism was published (Korthikanti 2022).
static bool isBeforeSequenceParallelism(const TrainingRow &row) {
  return says(row.source, {"2021", "bigscience", "scaling-mp"});
}

/// Before FlashAttention (arXiv:2205.14135) was a choice of Megatron.
static bool isBeforeFlashAttention(const TrainingRow &row) {
  return isBeforeSequenceParallelism(row) ||
         says(row.source, {"2205.05198", "seqsel"});
}

static bool isSharded(const std::string &fsdp) {
  return !fsdp.empty() && fsdp != "0";
}

static TrainingRuntime runtimeOf(const TrainingRow &row) {
  if (isJax(row) || (isSharded(row.fsdp) && !isMegatron(row)))
    return says(row.source, {"mosaicml"}) ? TrainingRuntime::fsdp
                                          : TrainingRuntime::fsdp2;
  if (says(row.source, {"bigscience"}))
    return TrainingRuntime::megatron_deepspeed;
  return isOfNemo(row) ? TrainingRuntime::nemo : TrainingRuntime::megatron;
}

//===----------------------------------------------------------------------===//
// Choices
//===----------------------------------------------------------------------===//

static void setZero(const TrainingRow &row, TrainedPlan &plan) {
  int64_t replicas = plan.dp * plan.cp;
  plan.zeroDevices = replicas;
  if (isSharded(row.fsdp)) {
    plan.zeroStage = row.fsdp == "SHARD_GRAD_OP" ? 2 : 3;
    // A number counts devices of dp alone; cp shards as well.
    std::optional<double> devices = numberIn(row.fsdp);
    if (devices && *devices >= 1 && *devices < double(plan.dp))
      plan.zeroDevices = int64_t(*devices) * plan.cp;
  } else if (row.zeroStage) {
    plan.zeroStage = *row.zeroStage;
  } else if (isRecipe(row) && replicas > 1) {
    plan.zeroStage = 1;
    plan.assumed.emplace_back("optimizer states are split, as in recipes");
  }
}

static void setSequenceParallel(const TrainingRow &row, TrainedPlan &plan) {
  plan.sequenceParallel = row.sequenceParallel.value_or(
      plan.tp > 1 && !isBeforeSequenceParallelism(row));
  if (!row.sequenceParallel && plan.tp > 1)
    plan.assumed.emplace_back(plan.sequenceParallel
                                  ? "sequence parallelism, as in recipes"
                                  : "no sequence parallelism, which was not "
                                    "known yet");
}

/// Parts by the names of Megatron's --recompute-modules, whose `moe` has shared
/// experts, too.
static std::vector<LayerPart> partsOf(const std::string &recompute) {
  static const std::pair<const char *, LayerPart> names[] = {
      {"core_attn", LayerPart::attention_core},
      {"layernorm", LayerPart::norms},
      {"moe_act", LayerPart::mlp_activation},
      {"mlp", LayerPart::mlp},
      {"moe", LayerPart::experts},
      {"moe", LayerPart::shared_experts},
      {"shared_experts", LayerPart::shared_experts},
      {"mla_up_proj", LayerPart::mla_up}};
  std::vector<LayerPart> parts;
  for (const std::string &word : wordsOf(lower(recompute), " ,+:[]"))
    for (auto [name, part] : names)
      if (word == name && std::count(parts.begin(), parts.end(), part) == 0)
        parts.push_back(part);
  std::sort(parts.begin(), parts.end());
  return parts;
}

/// torchtitan's default: `selective_ac_option = "op"`, which saves every other
/// matmul and the results of attention.
static Recomputation selectiveOf(const TrainingRow &row) {
  if (says(row.source, {"torchtitan"}))
    return {Recomputation::Kind::save_products, {}, 2};
  return {Recomputation::Kind::parts, {LayerPart::attention_core}};
}

static void setRecomputation(const TrainingRow &row,
                             const RecipeSettings &settings,
                             TrainedPlan &plan) {
  using Kind = Recomputation::Kind;
  std::vector<LayerPart> parts = partsOf(row.recompute);
  if (!parts.empty()) {
    plan.recomputation = {Kind::parts, parts};
  } else if (says(row.recompute, {"selective"})) {
    plan.recomputation = selectiveOf(row);
  } else if (says(row.recompute, {"save_products"}) ||
             (isJax(row) && says(row.recompute, {"minimal"}))) {
    // MaxText's remat_policy minimal: checkpoint_dots_with_no_batch_dims.
    plan.recomputation.kind = Kind::save_products;
  } else if (says(row.recompute, {"full"})) {
    plan.recomputation.kind = Kind::full;
  } else if (says(row.recompute, {"none"})) {
    return;
  } else if (settings.recomputation) {
    plan.recomputation = *settings.recomputation;
    plan.assumed.push_back("recomputation of " + plan.recomputation.str() +
                           ", as in recipes");
  } else {
    plan.recomputation.kind = isJax(row) ? Kind::full : Kind::fitting;
    plan.assumed.emplace_back(isJax(row) ? "full recomputation, as FSDP of JAX"
                                         : "no recomputation where it fits");
  }
}

/// Performance recipes reduce in bf16 (Megatron-Bridge, scripts/performance:
/// grad_reduce_in_fp32 is off); DeepSpeed's fp16 engine adds up in fp16.
static void setGradients(const TrainingRow &row, TrainedPlan &plan) {
  bool isOfEngine = plan.runtime == TrainingRuntime::megatron_deepspeed &&
                    plan.format == TrainingFormat::fp16;
  plan.narrowGradients = isOfNemo(row) || isOfEngine;
  if (plan.narrowGradients)
    plan.assumed.emplace_back(isOfEngine
                                  ? "gradients add up in fp16, as in DeepSpeed"
                                  : "gradients add up in bf16, as in recipes");
}

/// GPTs of before were trained with Megatron's dropout (its --attention-dropout
/// and --hidden-dropout, 0.1 unless told otherwise); BLOOM without
/// (huggingface.co/bigscience/bloom, config.json).
static void setKernels(const TrainingRow &row, TrainedPlan &plan) {
  plan.unfusedAttention = isBeforeFlashAttention(row);
  if (!plan.unfusedAttention)
    return;
  plan.assumed.emplace_back("attention that writes its probabilities: "
                            "FlashAttention was not known yet");
  if (says(row.source, {"bigscience"}))
    return;
  plan.dropout = 0.1;
  plan.assumed.emplace_back("dropout of 0.1, Megatron's default");
}

//// DeepSeek-V3 has one head that predicts a further token; some pages measure
/// with it and without.
static void setFurtherTokens(const TrainingRow &row, TrainedPlan &plan) {
  if (!says(row.model, {"w/ mtp"}))
    return;
  plan.mtpLayers = 1;
  plan.assumed.emplace_back(
      "a head for a further token, as the model is named");
}

/// Recipes do not split a single expert (Megatron-Bridge, scripts/performance:
/// expert_tensor_parallel_size=1), though Megatron would by tp.
static void setExperts(const TrainingRow &row, const RecipeSettings &settings,
                       TrainedPlan &plan) {
  plan.ep = row.ep.value_or(1);
  plan.expertTp = row.expertTp.value_or(plan.ep > 1 ? 1 : plan.tp);
  if (!row.expertTp && plan.tp > 1)
    plan.assumed.push_back("expert tp " + formatInteger(plan.expertTp));
  // Tables of releases have slips: experts on more devices than a stage has.
  int64_t devices = plan.devices / plan.pp;
  if (plan.expertTp == 1 && plan.ep > devices) {
    plan.assumed.push_back("ep " + formatInteger(devices) + ", not " +
                           formatInteger(plan.ep) +
                           ", which a stage has no devices for");
    plan.ep = devices;
  }
  plan.sendsOnce = settings.sendsOnce.value_or(false) && plan.ep > 1;
  if (plan.sendsOnce)
    plan.assumed.emplace_back("a token once to each device of its experts, as "
                              "in recipes");
  plan.overlapsDispatch =
      settings.overlapsDispatch.value_or(false) && plan.ep > 1;
  if (plan.overlapsDispatch)
    plan.assumed.emplace_back("tokens on their way to experts beside another "
                              "microbatch, as in recipes");
  plan.capturesIteration = settings.capturesIteration.value_or(false);
  if (plan.capturesIteration)
    plan.assumed.emplace_back("a graph of the whole iteration, as in recipes");
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

static std::optional<Error> checkStated(const TrainingRow &row) {
  for (const auto &[what, value] :
       {std::pair("the number of devices", row.devices),
        std::pair("tp", row.tp), std::pair("pp", row.pp),
        std::pair("the sequence length", row.sequenceTokens),
        std::pair("the global batch", row.globalBatch)})
    if (!value)
      return Error{"", std::string(what) + " is not stated", ""};
  return std::nullopt;
}

static Error unfit(const std::string &what, int64_t whole, int64_t part) {
  return {"",
          what + ": " + formatInteger(whole) + " is no multiple of " +
              formatInteger(part),
          ""};
}

/// dp is the number of devices over the other degrees, whatever a row states.
static std::optional<Error> setDegrees(const TrainingRow &row,
                                       TrainedPlan &plan) {
  plan.devices = *row.devices;
  plan.tp = *row.tp;
  plan.pp = *row.pp;
  plan.cp = row.cp.value_or(1);
  plan.interleave = row.interleave.value_or(1);
  std::optional<int64_t> replica =
      (Checked(plan.tp) * plan.pp * plan.cp).int64();
  if (!replica || plan.devices % *replica)
    return unfit("devices by tp x pp x cp", plan.devices,
                 replica.value_or(plan.tp));
  plan.dp = plan.devices / *replica;
  return std::nullopt;
}

static std::optional<Error> setBatch(const TrainingRow &row,
                                     TrainedPlan &plan) {
  plan.sequenceTokens = *row.sequenceTokens;
  plan.microbatchSequences = row.microbatch.value_or(1);
  if (!row.microbatch)
    plan.assumed.emplace_back("a micro-batch of 1 sequence");
  std::optional<int64_t> step =
      (Checked(plan.dp) * plan.microbatchSequences).int64();
  if (!step || *row.globalBatch % *step)
    return unfit("the global batch by dp x micro-batch", *row.globalBatch,
                 step.value_or(plan.dp));
  plan.microbatches = *row.globalBatch / *step;
  return std::nullopt;
}

static std::optional<Error> checkExperts(const TrainedPlan &plan) {
  int64_t devices = plan.devices / plan.pp;
  std::optional<int64_t> experts = (Checked(plan.ep) * plan.expertTp).int64();
  if (!experts || devices % *experts)
    return unfit("devices of a stage by ep x expert tp", devices,
                 experts.value_or(plan.ep));
  return std::nullopt;
}

Result<TrainedPlan>
autopar::validation::trainedPlanOf(const TrainingRow &row,
                                   const std::vector<Recipe> &recipes) {
  if (auto error = checkStated(row))
    return *error;
  TrainedPlan plan;
  std::optional<TrainingFormat> format = trainingFormatOf(row.precision);
  if (!format)
    return Error{"",
                 "precision \"" + shorten(row.precision) + "\" is not modelled",
                 "formats: fp16, bf16, fp8, mxfp8, nvfp4"};
  plan.format = *format;
  plan.runtime = runtimeOf(row);
  if (auto error = setDegrees(row, plan))
    return *error;
  if (auto error = setBatch(row, plan))
    return *error;
  plan.schedule = row.schedule;
  plan.offloadsActivations = row.offloadsActivations;
  setZero(row, plan);
  setSequenceParallel(row, plan);
  RecipeSettings settings;
  if (isOfNemo(row))
    settings = settingsOf(recipes, row, nameOf(plan.format));
  setRecomputation(row, settings, plan);
  setGradients(row, plan);
  setKernels(row, plan);
  setFurtherTokens(row, plan);
  if (row.isMoe())
    setExperts(row, settings, plan);
  if (auto error = checkExperts(plan))
    return *error;
  return plan;
}
