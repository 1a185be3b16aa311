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

/// How a runtime divides device memory.
enum class BudgetRule : uint8_t {
  /// The runtime may use a share of all usable memory (vLLM).
  fraction_of_total,
  /// The runtime may use the memory of the model and its temporaries, and a
  /// share of the rest (TensorRT-LLM).
  fraction_of_free,
  /// The runtime may use all usable memory. Temporaries get a reserve, whose
  /// size the runtime's rule gives; if the user sets a share of memory, the
  /// reserve is the rest (SGLang).
  reserve,
};

/// The default number format of a runtime's KV caches.
enum class KVCacheRule : uint8_t {
  /// The KV cache has the format of the model.
  model,
  /// fp8 if weights have 8 or 4 bits; the second rule, only if the chip
  /// multiplies 4-bit numbers.
  fp8_if_quantized,
  fp8_if_quantized_on_fp4_chips,
};

/// How a runtime stores a row of some caches, which is what it keeps of one
/// position: the number of elements and their format.
struct CacheRow {
  /// The caches whose rows they are.
  enum class Of : uint8_t {
    /// Latents of an attention that sees a part of all tokens: by an indexer,
    /// or as rows of several tokens.
    sparse_latent,
    /// Keys with which an indexer selects tokens.
    index,
  };
  Of of = Of::sparse_latent;
  /// The number of elements of a row.
  int64_t elements = 0;
  ElementType format = ElementType::fp8_row_576;
  /// The format of the model's caches in which rows are kept so; absent: any.
  std::optional<ElementType> where;
  hardware::Source source;
};

struct Runtime;

/// Figures of training frameworks: which communication they hide behind
/// computation, and their overhead.
struct TrainingFigures {
  /// Whether gradients of weights are reduced beside the backward, and weights
  /// are gathered beside kernels: 1 or 0.
  hardware::Figure overlapsReductions, overlapsGathers;
  /// Whether inputs are gathered, and their gradients summed, beside matmuls of
  /// a backward: 1 or 0.
  hardware::Figure overlapsInputs;
  /// Whether matmuls add to the stored gradients, without a kernel of its own
  /// for the addition: 1 or 0.
  hardware::Figure fusesAccumulation;
  /// Whether each expert has a matmul of its own, with kernels before and after
  /// it that sort tokens: 1 or 0.
  hardware::Figure loopsExperts;
  /// Share, from 0 to 1, of the communication for which kernels wait that
  /// nevertheless overlaps with other kernels; `hiddenDispatch` is the share
  /// for tokens sent to experts and back.
  hardware::Figure hiddenCommunication, hiddenDispatch;
  /// Slowdown of kernels that run beside a collective, as a share of the
  /// collective's time: both need multiprocessors and memory.
  hardware::Figure contention;
  /// Memory that the allocator wastes, as a share of saved values and
  /// temporaries.
  hardware::Figure allocatorOverhead;
  /// Whether stages keep their outputs until the backward, in addition to the
  /// inputs of layers: 1 or 0.
  hardware::Figure keepsOutputs;
  /// Number of gradient elements that are copied into one buffer to be reduced;
  /// 0 without such a buffer.
  hardware::Figure reductionBucket;
  /// Whether updates copy gradients (`lib/Cost/UpdateFormulas.cpp`): 1 or 0.
  hardware::Figure copiesGradients;
  /// Whether a weight that is gathered before use is stored only in the format
  /// of the master copy, and cast when it is gathered: 1; with 0 a second copy
  /// in the narrower format is stored.
  hardware::Figure castsGatheredWeights;
  /// Whether, in pipelines, fully sharded weights stay gathered from the first
  /// forward of an iteration to the last backward, and gradients stay whole
  /// until their single reduction: 1 or 0.
  hardware::Figure keepsWholeInStages;
  /// Whether, by default, tensor parallelism splits experts like the layers
  /// around them: 1; with 0 experts are not split.
  hardware::Figure splitsExpertsByTp;
  /// The default form of the loss, and the source of that fact.
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
  /// The chips to which the variant applies, by their usable memory in bytes:
  /// from `memoryFrom` to below `memoryBelow`. If `chips` names chips, it
  /// applies to these only.
  double memoryFrom = 0, memoryBelow = 0;
  /// The variant applies if the fastest links between devices have less than
  /// this bandwidth, in bytes per second; 0: any bandwidth.
  double linkBelow = 0;
  std::vector<std::string> chips;
  /// Values of `Chip::platform` to which the variant applies; empty: any.
  std::vector<std::string> platforms;
  /// Values of a model's `model_type` to which the variant applies; empty: any.
  std::vector<std::string> models;
  std::vector<std::pair<hardware::Figure Runtime::*, hardware::Figure>> figures;

  /// Whether the variant has no condition except that of its version.
  bool isOfAll() const;
  bool isFor(const hardware::Pool &pool, const std::string &modelType) const;
};

/// What a user chooses when a runtime is started.
struct LaunchChoices {
  /// Largest number of sequences in the running batch; absent: the runtime's
  /// default.
  std::optional<int64_t> maxSequences;
  /// Whether no CUDA graphs are captured: the host then launches every kernel.
  bool eager = false;

  bool operator==(const LaunchChoices &other) const {
    return maxSequences == other.maxSequences && eager == other.eager;
  }
};

/// The part of the cost that is due to software: a file of runtimes/*.json.
struct Runtime {
  /// Name, version and title. `version` is "" if none was asked for, which
  /// means the newest one described.
  std::string name, version, title;
  BudgetRule budgetRule = BudgetRule::fraction_of_total;
  /// Default share of device memory that the runtime may use, from 0 to 1.
  hardware::Figure memoryUtilization;
  /// Bytes per device of the device context and of libraries (cuBLAS, NCCL,
  /// ...). `communicationBytes` are needed only if a collective spans devices,
  /// and `communicationBytesPerPeer` for each device beyond two.
  hardware::Figure contextBytes, libraryBytes, communicationBytes,
      communicationBytesPerPeer;
  /// Bytes per device of captured CUDA graphs: `graphBytes` of their pool, and
  /// `graphBytesEach` for each of `graphs` graphs.
  hardware::Figure graphBytes, graphBytesEach, graphs;
  /// Number of graphs that capture a whole step, and the additional bytes per
  /// device of each if the model has recurrent states.
  hardware::Figure wholeGraphs, graphBytesPerRecurrentGraph;
  /// Token counts for which graphs are captured, sorted, up to `largestGraph`.
  /// Counts up to the limit of the running batch get a graph of the whole step.
  /// With `capturesPieces`, counts up to `graphTokensPerSequence` times that
  /// limit get a graph in pieces, too.
  std::vector<int64_t> captureSizes;
  hardware::Figure largestGraph, graphTokensPerSequence;
  bool capturesPieces = false;
  /// Reserve by `BudgetRule::reserve`, in bytes per device: a constant, an
  /// amount per token of the largest step, an amount per device that a
  /// collective spans, and the least reserve.
  hardware::Figure reserveBytes, reserveBytesPerToken, reserveBytesPerPeer,
      reserveLeast;
  /// Reserve by `BudgetRule::reserve` for CUDA graphs: bytes per sequence of
  /// the largest graph, and its number of sequences.
  hardware::Figure reserveBytesPerGraphSequence, graphSequences;
  /// Padding of routed experts' weights in 4-bit floats: the hidden and the
  /// intermediate extent on a device are padded to multiples of the first two;
  /// the values (not the scales) of each row to a multiple of
  /// `expertContractionMultiple`. 1: as stored.
  hardware::Figure expertHiddenMultiple, expertIntermediateMultiple,
      expertContractionMultiple;
  /// The profiling run by which the runtime sizes temporaries, before the KV
  /// cache gets the rest of the memory: tokens of its step, sequences that it
  /// samples, and bytes per logit of these (formats, sorting, probabilities).
  hardware::Figure profileTokens, profileSequences, samplerBytesPerLogit;
  /// Number of copies of the hidden states that are in memory while the
  /// profiling run samples, and whether the temporaries of routed experts are,
  /// too: 1 or 0.
  hardware::Figure profileHiddenStates, keepsExpertWorkspace;
  /// Number of tokens per block of the KV cache.
  hardware::Figure kvBlockTokens;
  /// Time in us that a step waits for its host, in addition to the curves of
  /// kernels: per step, per layer, and per sequence of a step.
  hardware::Figure hostTimeUs, hostTimePerLayerUs, hostTimePerSequenceUs;
  /// Whether experts that all tokens share run beside the routed experts, on a
  /// second stream or as one of them: 1 or 0.
  hardware::Figure overlapsSharedExperts;
  /// Skew of the choice of experts: the exponent of Zipf's distribution, from 0
  /// (even) to below 1.
  hardware::Figure routingSkew;
  /// Shortest time in us from one kernel of a captured graph to the next.
  hardware::Figure kernelFloorUs;
  /// Largest number of tokens in a step (of prompts and decoding sequences
  /// together), and largest number of sequences in the running batch.
  hardware::Figure tokenBudget, maxSequences;
  /// Whether prompts are computed in the same steps as decoding sequences, and
  /// not in steps of their own.
  bool fusesPrompts = false;
  /// `cutsPrompts`: whether prompts are cut into chunks if the token budget is
  /// too small. `reservesAnswers`: whether KV blocks for the whole answer are
  /// reserved at admission, instead of preempting requests when blocks run out.
  bool cutsPrompts = false, reservesAnswers = false;
  /// Time in us that the server needs for a request outside of steps
  /// (tokenising, scheduling, sampling, sending): per request, per token of the
  /// prompt, and per other answer that is sent in the meantime.
  hardware::Figure requestTimeUs, requestTimePerTokenUs, requestTimePerStreamUs;
  /// `streamInterval`: tokens of an answer that are generated before the first
  /// is sent. `receiveInterval`: steps between polls for new requests.
  hardware::Figure streamInterval, receiveInterval;
  /// `promptStepUs`: additional host time, in us, of a step with prompts, which
  /// has no captured graph. `promptStepShare`: device time of such a step over
  /// its priced time.
  hardware::Figure promptStepUs, promptStepShare;
  /// Additional host time, in us, of a step without any captured graph.
  hardware::Figure eagerStepUs;
  /// Start-up time, in us, of a collective between nodes in a step
  /// (`addStart`).
  hardware::Figure collectiveStartUs;
  KVCacheRule kvCacheRule = KVCacheRule::model;
  /// Rows of caches of latents and of index keys. Caches that no entry names
  /// have rows of elements alone.
  std::vector<CacheRow> cacheRows;
  /// The name of the runtime whose measured collectives this one uses: a key of
  /// `Tier::implementations`.
  std::string collectives;
  /// The vocabulary is padded to a multiple of this number.
  hardware::Figure vocabularyMultiple;
  /// Whether matmuls with one input are launched as one, and whether adjacent
  /// elementwise kernels are (`Kernel::fusionGroup`).
  bool mergesSharedInput = false, fusesElementwise = false;
  /// Whether estimates are bounds instead of expectations: kernels and
  /// collectives run at peak rates without floors and efficiencies, and
  /// measured curves are not used.
  bool ideal = false;
  /// Figures of training; absent for inference runtimes.
  std::optional<TrainingFigures> training;
  /// Variants for other chips, links or models; later ones override earlier
  /// ones.
  std::vector<RuntimeVariant> variants;
  /// Whether some figure differs between versions of the runtime.
  bool hasVersions = false;

  /// Applies the variants for the devices of `pool` and for models of type
  /// `modelType` ("" if not known), and then `launch`. Figures that a user set
  /// are not changed.
  void adaptTo(const hardware::Pool &pool, const std::string &modelType = "",
               const LaunchChoices &launch = {});
  /// Sets the token budget of a step, and scales temporaries with it if a
  /// profiling run sizes them. Figures that a user set are not changed.
  void setTokenBudget(double tokens);
  /// Whether, by default, the runtime keeps keys and values in 8 bits on
  /// `chip`, for a model whose weights are quantised or not.
  bool keepsCacheInFp8(bool isQuantized, const hardware::Chip &chip) const;
  /// Returns the format in which the runtime keeps rows of `elements` elements
  /// of caches in `format`; `format` itself if no entry of `cacheRows` applies.
  ElementType formatOfRow(CacheRow::Of of, int64_t elements,
                          ElementType format) const;
  /// Returns the name: "vllm", or "vllm@0.19" if a version was asked for and
  /// the runtime has versions.
  std::string label() const;

private:
  void setMaxSequences(int64_t sequences);
  void countGraphs();
  void captureNoGraphs();
};

std::vector<std::string> runtimeNames();
/// Whether `text` is a valid version after the `@` of a runtime: "0.19.0",
/// "2026-03".
bool isRuntimeVersion(std::string_view text);
/// Reads a runtime by its name in the library or by path, optionally with `@`
/// and a version or its month: "vllm@0.19", "vllm@2026-03".
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
