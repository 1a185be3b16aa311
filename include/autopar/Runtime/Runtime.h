//===- Runtime.h - Costs of a serving runtime -------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_RUNTIME_RUNTIME_H
#define AUTOPAR_RUNTIME_RUNTIME_H

#include "autopar/Hardware/Hardware.h"
#include "autopar/Program/LossForm.h"

namespace autopar::runtime {

/// The rule by which a runtime reserves memory.
enum class BudgetRule : uint8_t {
  /// A share of all usable memory (vLLM).
  fraction_of_total,
  /// The memory of the model and its temporaries, and a share of the rest
  /// (TensorRT-LLM).
  fraction_of_free,
  /// All usable memory. Temporaries get a reserve, by the runtime's rule or by
  /// the rest beside a given share (SGLang).
  reserve,
};

/// The default format of a runtime's KV caches.
enum class KVCacheRule : uint8_t {
  /// The model's format.
  model,
  /// fp8 if weights have 8 or 4 bits; for the second, only if the chip
  /// multiplies 4 bits.
  fp8_if_quantized,
  fp8_if_quantized_on_fp4_chips,
};

struct Runtime;

/// Overlap and overhead of training frameworks.
struct TrainingFigures {
  /// Whether gradients of weights are reduced beside backwards, and weights
  /// gathered beside kernels: 1 or 0.
  hardware::Figure overlapsReductions, overlapsGathers;
  /// Whether inputs are gathered, and their gradients summed, beside matmuls of
  /// a backward: 1 or 0.
  hardware::Figure overlapsInputs;
  /// Whether matmuls accumulate into the kept gradients: 1 or 0.
  hardware::Figure fusesAccumulation;
  /// Whether each expert has a matmul of its own, with kernels before and after
  /// them that sort tokens: 1 or 0.
  hardware::Figure loopsExperts;
  /// Share, 0 to 1, of the communication that kernels wait for which overlaps
  /// with other kernels; the same for tokens on their way to experts and back.
  hardware::Figure hiddenCommunication, hiddenDispatch;
  /// Slowdown of kernels beside a collective, as a share of the collective's
  /// time: both need multiprocessors and memory.
  hardware::Figure contention;
  /// Memory that the allocator wastes, as a share of saved values and
  /// temporaries.
  hardware::Figure allocatorOverhead;
  /// Whether stages keep their outputs until the backward, in addition to the
  /// inputs of layers: 1 or 0.
  hardware::Figure keepsOutputs;
  /// Elements of gradients that are copied into one buffer to be reduced; 0
  /// without such a buffer.
  hardware::Figure reductionBucket;
  /// Whether updates copy gradients (`lib/Cost/UpdateFormulas.cpp`): 1 or 0.
  hardware::Figure copiesGradients;
  /// Whether a weight that is gathered before use is kept only in the format of
  /// the master copy, and cast as it is gathered: 1; with 0 a narrow copy stays
  /// beside it.
  hardware::Figure castsGatheredWeights;
  /// Whether fully sharded weights, in pipelines, stay whole from the first
  /// forward of an iteration to the last backward, and gradients until their
  /// single reduction: 1 or 0.
  hardware::Figure keepsWholeInStages;
  /// Whether, by default, tensor parallelism splits experts like the layers
  /// around them: 1; with 0 experts stay whole.
  hardware::Figure splitsExpertsByTp;
  /// The default form of the loss, and its source.
  std::optional<program::LossForm> loss;
  hardware::Source lossSource;
  /// Relative slowdown of iterations over those on equal devices.
  hardware::Figure stragglerShare;
  /// Relative slowdown of iterations in which hosts wait for the number of
  /// tokens of each expert.
  hardware::Figure routingHostShare;
};

/// Figures that replace the runtime's own for other versions, chips or links.
struct RuntimeVariant {
  /// Range of usable memory, in bytes, of the chips that the variant applies
  /// to; if `chips` are named, to those only.
  double memoryFrom = 0, memoryBelow = 0;
  /// The variant applies if the fastest links between devices have less than
  /// this bandwidth, in bytes per second; 0: any.
  double linkBelow = 0;
  std::vector<std::string> chips;
  /// `Chip::platform` of the chips that it applies to; empty: any.
  std::vector<std::string> platforms;
  /// `model_type` of the models that it applies to; empty: any.
  std::vector<std::string> models;
  std::vector<std::pair<hardware::Figure Runtime::*, hardware::Figure>> figures;

  /// Whether it has no condition but that of its version.
  bool isOfAll() const;
  bool isFor(const hardware::Pool &pool, const std::string &modelType) const;
};

/// A user's choices when an engine is started.
struct LaunchChoices {
  /// Limit of the running batch; absent: the runtime's.
  std::optional<int64_t> maxSequences;
  /// Whether no graphs are captured: the host then launches every kernel.
  bool eager = false;

  bool operator==(const LaunchChoices &other) const {
    return maxSequences == other.maxSequences && eager == other.eager;
  }
};

/// The part of the cost that is software: runtimes/*.json.
struct Runtime {
  /// `version` is empty if none was requested, which means the newest one
  /// described.
  std::string name, version, title;
  BudgetRule budgetRule = BudgetRule::fraction_of_total;
  /// Default share of memory, 0 to 1.
  hardware::Figure memoryUtilization;
  /// Bytes per device of the device context and of libraries (cuBLAS, NCCL,
  /// ...). `communicationBytes` apply only if a collective spans devices, and
  /// `communicationBytesPerPeer` for each device beyond two.
  hardware::Figure contextBytes, libraryBytes, communicationBytes,
      communicationBytesPerPeer;
  /// Bytes per device of captured graphs: their pool, and an addition for each
  /// of `graphs` graphs.
  hardware::Figure graphBytes, graphBytesEach, graphs;
  /// Number of graphs of a whole step, and additional bytes per device of each
  /// if the model has recurrent states.
  hardware::Figure wholeGraphs, graphBytesPerRecurrentGraph;
  /// Token counts for which graphs are captured, sorted, up to `largestGraph`.
  /// Counts up to the limit of the running batch get a graph of the whole step.
  /// With `capturesPieces`, counts up to `graphTokensPerSequence` per sequence
  /// of that limit get a graph in pieces, too.
  std::vector<int64_t> captureSizes;
  hardware::Figure largestGraph, graphTokensPerSequence;
  bool capturesPieces = false;
  /// Reserve of `BudgetRule::reserve`, in bytes per device: constant, per token
  /// of the largest step, and per device that a collective spans; and its
  /// minimum.
  hardware::Figure reserveBytes, reserveBytesPerToken, reserveBytesPerPeer,
      reserveLeast;
  /// Reserve of that rule for graphs: bytes per sequence of the largest graph,
  /// and its sequences.
  hardware::Figure reserveBytesPerGraphSequence, graphSequences;
  /// Layout of routed experts' weights in 4-bit floats: the hidden and the
  /// intermediate extent on a device are padded to multiples of these; the
  /// values (not the scales) of each row to a multiple of
  /// `expertContractionMultiple`. 1: as stored.
  hardware::Figure expertHiddenMultiple, expertIntermediateMultiple,
      expertContractionMultiple;
  /// The profiling run that sizes temporaries before the KV cache gets the
  /// rest: tokens of its step, sequences that it samples, and bytes per logit
  /// of those (formats, sorting, probabilities).
  hardware::Figure profileTokens, profileSequences, samplerBytesPerLogit;
  /// Copies of the hidden states that are live while that run samples, and
  /// whether the temporaries of routed experts are, too: 1 or 0.
  hardware::Figure profileHiddenStates, keepsExpertWorkspace;
  /// Tokens per block of the KV cache.
  hardware::Figure kvBlockTokens;
  /// Time in us that a step waits for its host, beyond the curves of kernels:
  /// per step, per layer of a step, and per sequence of a step.
  hardware::Figure hostTimeUs, hostTimePerLayerUs, hostTimePerSequenceUs;
  /// Skew of the choice of experts: exponent of Zipf's distribution, from 0
  /// (even) to below 1.
  hardware::Figure routingSkew;
  /// Shortest time in us between kernels of a captured graph.
  hardware::Figure kernelFloorUs;
  /// Token budget of a step (prompts and decoding sequences), and limit of the
  /// running batch.
  hardware::Figure tokenBudget, maxSequences;
  /// Whether prompts are computed beside sequences that decode, or in steps of
  /// their own.
  bool fusesPrompts = false;
  /// Whether prompts are cut into prefill chunks if the token budget is too
  /// small; whether KV blocks for the whole answer are reserved at admission,
  /// instead of preemption and recomputation when they run out.
  bool cutsPrompts = false, reservesAnswers = false;
  /// Time in us that the server takes for a request outside of steps
  /// (tokenising, scheduling, sampling, sending): per request, per token of the
  /// prompt, and per other answer that the engine sends meanwhile.
  hardware::Figure requestTimeUs, requestTimePerTokenUs, requestTimePerStreamUs;
  /// Tokens of an answer that are generated before the first is sent; steps
  /// between polls for new requests.
  hardware::Figure streamInterval, receiveInterval;
  /// Additional host time of a step with prompts, which has no captured graph,
  /// in us; the device time that it takes, over its priced time.
  hardware::Figure promptStepUs, promptStepShare;
  /// Additional host time of a step without any captured graph, in us.
  hardware::Figure eagerStepUs;
  /// Start-up time of a collective between nodes in a step (`addStart`), in us.
  hardware::Figure collectiveStartUs;
  KVCacheRule kvCacheRule = KVCacheRule::model;
  /// The runtime whose collectives it uses: `Tier::implementations`.
  std::string collectives;
  /// The vocabulary is padded to a multiple of this.
  hardware::Figure vocabularyMultiple;
  /// Whether matmuls with one input, and runs of elementwise kernels, are
  /// launched as one (`Kernel::fusionGroup`).
  bool mergesSharedInput = false, fusesElementwise = false;
  /// Whether estimates are bounds instead of expectations: kernels and
  /// collectives run at peak rates without floors and efficiencies, and
  /// measured curves are not used.
  bool ideal = false;
  /// Present for training frameworks.
  std::optional<TrainingFigures> training;
  /// Variants of its version, by chip; later ones override earlier ones.
  std::vector<RuntimeVariant> variants;
  /// Whether figures of any differ by version.
  bool hasVersions = false;

  /// Adopts the variants for the devices of `pool` and models of that type (""
  /// if not known), then applies `launch`. Figures that a user set stay.
  void adaptTo(const hardware::Pool &pool, const std::string &modelType = "",
               const LaunchChoices &launch = {});
  /// Sets the token budget of a step, and sizes temporaries for it if a
  /// profiling run sizes them. Figures that a user set stay.
  void setTokenBudget(double tokens);
  /// Whether it keeps keys and values in 8 bits on `chip`, of a model with
  /// quantised weights or without, where nobody says.
  bool keepsCacheInFp8(bool isQuantized, const hardware::Chip &chip) const;
  /// The name: "vllm", or "vllm@0.19" if a version was requested and versions
  /// exist.
  std::string label() const;

private:
  void setMaxSequences(int64_t sequences);
  void countGraphs();
  void captureNoGraphs();
};

std::vector<std::string> runtimeNames();
/// Whether `text` is a legal version behind the `@` of a runtime: "0.19.0",
/// "2026-03".
bool isRuntimeVersion(std::string_view text);
/// Reads a runtime by library name or by path, optionally with `@` and a
/// version or its month: "vllm@0.19", "vllm@2026-03".
Result<Runtime> readRuntime(const std::string &nameOrPath,
                            const std::vector<hardware::Override> &overrides,
                            std::vector<bool> &usedOverrides);
/// Returns an error for the first override of a runtime that `readRuntime` has
/// not used.
std::optional<Error>
unusedRuntimeOverride(const std::vector<hardware::Override> &overrides,
                      const std::vector<bool> &usedOverrides);

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_RUNTIME_H
