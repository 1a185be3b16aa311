//===- Runtime.h - What a serving runtime adds ------------------*- C++ -*-===//
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

/// How a runtime sets aside memory.
enum class BudgetRule : uint8_t {
  /// A share of all usable memory (vLLM).
  fraction_of_total,
  /// All that the model and temporaries need, and a share of what they leave
  /// (TensorRT-LLM).
  fraction_of_free,
  /// All usable memory, of which temporaries get a reserve by a rule of its
  /// own, or what a given share leaves (SGLang).
  reserve,
};

/// In what format a runtime keeps keys and values where nobody says.
enum class KVCacheRule : uint8_t {
  /// That of the model.
  model,
  /// fp8 where weights are in 8 or 4 bits; where the chip multiplies 4 bits,
  /// too.
  fp8_if_quantized,
  fp8_if_quantized_on_fp4_chips,
};

struct Runtime;

/// What training frameworks do beside computation, and what they add.
struct TrainingFigures {
  /// Whether gradients of weights are reduced beside backwards, and weights
  /// gathered beside kernels: 1 or 0.
  hardware::Figure overlapsReductions, overlapsGathers;
  /// Whether inputs are gathered, and their gradients summed, beside products
  /// of a backward: 1 or 0.
  hardware::Figure overlapsInputs;
  /// Whether products add what they make to the gradients that are kept: 1 or
  /// 0.
  hardware::Figure fusesAccumulation;
  /// Whether each expert has a product of its own, with kernels before and
  /// behind them that sort tokens: 1 or 0.
  hardware::Figure loopsExperts;
  /// What of the communication that kernels wait for runs beside others of
  /// them, 0 to 1; what of the tokens' way to experts and back.
  hardware::Figure hiddenCommunication, hiddenDispatch;
  /// What kernels take longer where a collective runs beside them, in parts of
  /// its time: both want multiprocessors and memory.
  hardware::Figure contention;
  /// What the allocator loses of saved values and temporaries, in parts of
  /// them.
  hardware::Figure allocatorOverhead;
  /// Whether stages keep what they handed on until its backward, beside the
  /// inputs of layers: 1 or 0.
  hardware::Figure keepsOutputs;
  /// Gradients that are copied into one buffer to be reduced, elements; 0:
  /// none are.
  hardware::Figure reductionBucket;
  /// Whether updates take copies of gradients (`lib/Cost/UpdateFormulas.cpp`):
  /// 1 or 0.
  hardware::Figure copiesGradients;
  /// Whether a weight that is gathered before its use is kept in the format of
  /// the optimizer's copy alone, and cast as it is gathered: 1 or 0, where a
  /// narrow copy stays beside it.
  hardware::Figure castsGatheredWeights;
  /// Whether fully sharded weights, under pipelines, stay whole from their
  /// first forward of an iteration to the last backward, and their gradients
  /// until they are reduced once: 1 or 0.
  hardware::Figure keepsWholeInStages;
  /// Whether, where nobody says otherwise, tensor parallelism splits experts as
  /// it splits the layers around them: 1 or 0, where experts stay whole.
  hardware::Figure splitsExpertsByTp;
  /// How the loss is computed where nobody says otherwise, and which source
  /// says so.
  std::optional<program::LossForm> loss;
  hardware::Source lossSource;
  /// How much longer iterations are than those of devices that are alike, in
  /// parts of them.
  hardware::Figure stragglerShare;
  /// What iterations lose where hosts wait for how many tokens each expert has,
  /// in parts of them.
  hardware::Figure routingHostShare;
};

/// Figures that other versions, chips or links have in place of the runtime's
/// own.
struct RuntimeVariant {
  /// Usable memory of the chips that it is for, bytes; where `chips` are named,
  /// of those alone.
  double memoryFrom = 0, memoryBelow = 0;
  /// Bandwidth of the fastest links between devices that it is for is below
  /// this, bytes per second; 0: any.
  double linkBelow = 0;
  std::vector<std::string> chips;
  /// `Chip::platform` of the chips that it is for; empty: any.
  std::vector<std::string> platforms;
  /// `model_type` of the models that it is for; empty: any.
  std::vector<std::string> models;
  std::vector<std::pair<hardware::Figure Runtime::*, hardware::Figure>> figures;

  /// Whether it has no condition but that of its version.
  bool isOfAll() const;
  bool isFor(const hardware::Pool &pool, const std::string &modelType) const;
};

/// What a user sets of an engine when it is started.
struct LaunchChoices {
  /// Sequences that run at once; the runtime's own where absent.
  std::optional<int64_t> maxSequences;
  /// Whether no graphs are captured: the host launches every kernel.
  bool eager = false;

  bool operator==(const LaunchChoices &other) const {
    return maxSequences == other.maxSequences && eager == other.eager;
  }
};

/// The part of the cost that is software: runtimes/*.json.
struct Runtime {
  /// `version` is empty where none was asked for: the newest that is described.
  std::string name, version, title;
  BudgetRule budgetRule = BudgetRule::fraction_of_total;
  /// Default share of memory, 0 to 1.
  hardware::Figure memoryUtilization;
  /// Device context, and libraries (cuBLAS, NCCL, ...), bytes per device;
  /// `communicationBytes` only where a collective spans devices, and
  /// `communicationBytesPerPeer` for each of those beyond two.
  hardware::Figure contextBytes, libraryBytes, communicationBytes,
      communicationBytesPerPeer;
  /// Captured graphs, bytes per device: their pool, and more for each of so
  /// many.
  hardware::Figure graphBytes, graphBytesEach, graphs;
  /// How many of the graphs have a whole step, and what each of those takes
  /// more where the model has recurrent states, bytes per device.
  hardware::Figure wholeGraphs, graphBytesPerRecurrentGraph;
  /// Numbers of tokens that graphs are captured for, increasing, up to
  /// `largestGraph`; those up to the sequences that run at once have a graph of
  /// the whole step. Where `capturesPieces`, those up to
  /// `graphTokensPerSequence` for each of these have one in pieces, too.
  std::vector<int64_t> captureSizes;
  hardware::Figure largestGraph, graphTokensPerSequence;
  bool capturesPieces = false;
  /// What `BudgetRule::reserve` keeps, bytes per device: in any case, for each
  /// token of the step with most, and for each device that a collective spans;
  /// and the least.
  hardware::Figure reserveBytes, reserveBytesPerToken, reserveBytesPerPeer,
      reserveLeast;
  /// What that rule keeps for graphs: bytes for each sequence of the largest
  /// one, and its sequences.
  hardware::Figure reserveBytesPerGraphSequence, graphSequences;
  /// Weights of routed experts in 4-bit floats as kernels lay them out: their
  /// hidden and their intermediate extent on a device are multiples of these;
  /// the values (not the scales) of each row are a multiple of
  /// `expertContractionMultiple`. 1: as they are stored.
  hardware::Figure expertHiddenMultiple, expertIntermediateMultiple,
      expertContractionMultiple;
  /// The run by which the runtime sizes its temporaries before it gives the
  /// rest to the KV cache: tokens of a step, sequences that are sampled from,
  /// and bytes per score of those (formats, sorting, probabilities).
  hardware::Figure profileTokens, profileSequences, samplerBytesPerLogit;
  /// Copies of the hidden states that live while that run samples, and whether
  /// the temporaries of routed experts do, too: 1 or 0.
  hardware::Figure profileHiddenStates, keepsExpertWorkspace;
  /// Tokens of one block of the KV cache.
  hardware::Figure kvBlockTokens;
  /// Time that a step waits for its host, for what no kernel's curve has:
  /// microseconds of a step, and of a step per layer and per sequence.
  hardware::Figure hostTimeUs, hostTimePerLayerUs, hostTimePerSequenceUs;
  /// How uneven tokens choose experts: the exponent of Zipf's law, 0 (even) to
  /// below 1.
  hardware::Figure routingSkew;
  /// Least time from one kernel to the next in a captured graph, microseconds.
  hardware::Figure kernelFloorUs;
  /// Tokens of prompts and sequences that one step computes at most, and
  /// sequences that run at once.
  hardware::Figure tokenBudget, maxSequences;
  /// Whether prompts are computed beside sequences that decode, or in steps of
  /// their own.
  bool fusesPrompts = false;
  /// Whether a prompt is read in pieces where a step has no room for all of it;
  /// whether room in the KV caches is kept for whole answers from the start, or
  /// what has none any more is evicted and read again.
  bool cutsPrompts = false, reservesAnswers = false;
  /// What the server takes for a request outside of steps (it tokenises,
  /// schedules, samples, sends), microseconds: in any case, for each token of
  /// the prompt, and for each other answer that the engine sends meanwhile.
  hardware::Figure requestTimeUs, requestTimePerTokenUs, requestTimePerStreamUs;
  /// Tokens of an answer that are made before the first of them is sent, and
  /// steps from one look for new requests to the next.
  hardware::Figure streamInterval, receiveInterval;
  /// What a step with prompts takes more on the host (no graph was captured
  /// for it), microseconds, and the share of its priced time on the device that
  /// it takes.
  hardware::Figure promptStepUs, promptStepShare;
  /// What the host takes more for a step where no graphs are captured at all,
  /// microseconds.
  hardware::Figure eagerStepUs;
  /// What a collective between nodes takes in a step beside its messages
  /// (`addStart`), microseconds.
  hardware::Figure collectiveStartUs;
  KVCacheRule kvCacheRule = KVCacheRule::model;
  /// Whose collectives it has: `Tier::implementations`.
  std::string collectives;
  /// The vocabulary is padded to a multiple of this.
  hardware::Figure vocabularyMultiple;
  /// Whether products of one input and runs of elementwise kernels are
  /// launched as one (`Kernel::fusionGroup`).
  bool mergesSharedInput = false, fusesElementwise = false;
  /// The bound instead of an expectation: kernels and collectives run at peak
  /// rates with neither floors nor efficiencies; measured curves are not used.
  bool ideal = false;
  /// Of those that train.
  std::optional<TrainingFigures> training;
  /// Of its version, by chip: the later ones over the earlier.
  std::vector<RuntimeVariant> variants;
  /// Whether figures of any differ by version.
  bool hasVersions = false;

  /// Takes the figures that it has on the devices of `pool` for models of that
  /// type ("" of one that is not known), then what `launch` makes of them, but
  /// for those that a user gave.
  void adaptTo(const hardware::Pool &pool, const std::string &modelType = "",
               const LaunchChoices &launch = {});
  /// Takes `tokens` of prompts and sequences in one step, and sizes its
  /// temporaries for them where it sizes them by a run, as far as no user said
  /// otherwise.
  void setTokenBudget(double tokens);
  /// Whether it keeps keys and values in 8 bits on `chip`, of a model with
  /// quantised weights or without, where nobody says.
  bool keepsCacheInFp8(bool isQuantized, const hardware::Chip &chip) const;
  /// "vllm", or "vllm@0.19" where a version was asked for and there are any.
  std::string label() const;

private:
  void setMaxSequences(int64_t sequences);
  void countGraphs();
  void captureNoGraphs();
};

std::vector<std::string> runtimeNames();
/// Whether `text` may stand behind the `@` of a runtime: "0.19.0", "2026-03".
bool isRuntimeVersion(std::string_view text);
/// By library name or by path, either with `@` and a version or the month that
/// it is of: "vllm@0.19", "vllm@2026-03".
Result<Runtime> readRuntime(const std::string &nameOrPath,
                            const std::vector<hardware::Override> &overrides,
                            std::vector<bool> &usedOverrides);
/// The first override of a runtime that `readRuntime` has not used.
std::optional<Error>
unusedRuntimeOverride(const std::vector<hardware::Override> &overrides,
                      const std::vector<bool> &usedOverrides);

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_RUNTIME_H
