//===- Report.h - Everything a report says: autopar.report/1 ----*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_REPORT_REPORT_H
#define AUTOPAR_REPORT_REPORT_H

#include "autopar/Placement/Placement.h"
#include "autopar/Report/ServingReport.h"
#include "autopar/Report/TrainingReport.h"
#include "autopar/Schedule/Staging.h"
#include "autopar/Schedule/Timeline.h"
#include "autopar/Support/Checked.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace autopar::report {

/// Something taken for granted, and who said so.
struct Assumption {
  std::string name, value, source;
};

/// Something to know about the result, with what would work where there is
/// such a thing.
struct Warning {
  std::string text;
  /// What it says, for machines: "idle-devices". Empty where it is about the
  /// figures that numbers rest on, not about the program.
  std::string kind;
  /// What it is about: the step, the devices, or record `record` of the cost
  /// program.
  enum class Subject { step, mesh, resident, collective };
  Subject subject = Subject::step;
  size_t record = 0;
};

/// What something adds to the time of a step: first what the chip's peaks
/// allow, then what keeps it from that.
struct WaterfallStep {
  const char *name;
  double timeUs;
  /// Of the report's numbers.
  const char *formula;
};

/// How a number of the report came about. The formula evaluates from the
/// inputs alone: "sum of the inputs", or an expression of the last parts of
/// their names.
struct Derivation {
  std::string formula;
  /// Numbers in decimal, by path of the report, plan, hardware or runtime, or
  /// by record of the cost program: `weights/<layer>/<name>`,
  /// `caches/<layer>/<name>`, `states/<layer>/<name>`, `activations/<name>`,
  /// `kernels/<name>`, `collectives/<name>`. Names are unique.
  std::vector<std::pair<std::string, std::string>> inputs;
  std::vector<std::string> sources;
  /// To read: how an input came about, by its name, and the figures that the
  /// inputs rest on, by their paths.
  std::vector<std::pair<std::string, std::string>> terms;
  /// To read: what the inputs have in common; may be empty.
  std::string note;
};

/// What 1 % more of a figure does.
struct Impact {
  struct Change {
    double stepTimeUs = 0, totalBytes = 0, kvCapacityTokens = 0;
  };
  /// "chips.h100-sxm.memory_bandwidth".
  std::string path;
  double value = 0;
  std::string source;
  /// Of 1 % more, by the slope there.
  Change more;
  /// Of 1 % less where the slope on that side is another one: a kink.
  std::optional<Change> less;
};

/// One row of the breakdown: time, FLOPs and bytes of one device.
struct BreakdownRow {
  std::string name;
  int64_t count = 0;
  double timeUs = 0;
  Checked flops, bytes;
};

/// A kernel in a step of one device, all of its launches; of a launch that it
/// shares, what is its own.
struct KernelRow : BreakdownRow {
  std::string op, layer;
  /// What most of its time is: "compute", "memory" or "overhead".
  std::string bound;
  /// What its FLOPs, or its bytes, take at the chip's peaks, whichever is more.
  double peakTimeUs = 0;
  /// Of the units and the format that it computes in; 0 where it has no FLOPs.
  double peakFlopsPerS = 0;
};

/// The one struct behind every output format. Counts are exact, and those of
/// type `Checked` valid; times are microseconds. Comments name the JSON keys
/// where they differ.
struct Report {
  struct Model {
    std::string name;
    int64_t parameters = 0, activeParameters = 0, checkpointBytes = 0;
    /// Of the checkpoint, but not loaded; 0 is not written.
    int64_t storedOnlyParameters = 0;
  };
  Model model;

  struct Axis {
    std::string name, tier;
    int64_t size = 1, stride = 1;
  };
  struct Mesh {
    /// Axes and degrees by name: tp, cp, dp, ep, etp, edp, dcp, attention_tp,
    /// and whatever else the mesh has.
    std::map<std::string, int64_t> degrees;
    int64_t devices = 1;
    /// Routed experts of a layer on a device; 0, which is not written, where
    /// there are none.
    int64_t expertsPerDevice = 0;
    std::vector<Axis> axes;
  };
  Mesh mesh;

  struct Step {
    std::string phase;
    int64_t batch = 0, queryLength = 0, contextLength = 0, encoderTokens = 0,
            crossTokens = 0;
  };
  Step workload;

  struct Machine {
    std::string hardware, hardwareTitle, chip, runtime;
    int64_t devices = 0, nodes = 1;
  };
  Machine machine;

  struct DeviceMemory {
    int64_t weightBytes = 0, kvCacheBytes = 0, stateBytes = 0;
    /// Of training: gradients, what the optimizer keeps, values saved for
    /// backwards where they are the most, copies that an update takes, what the
    /// allocator loses, and what of those copies lies where saved values were.
    int64_t gradientBytes = 0, optimizerBytes = 0, savedBytes = 0,
            updateBytes = 0, allocatorBytes = 0, reusedBytes = 0;
    /// Temporaries of this step, and what is kept for temporaries of any: the
    /// most of those, of the run by which the runtime sizes them, of its
    /// sampler, and of what its rule keeps.
    int64_t activationBytes = 0, reservedBytes = 0;
    int64_t profileBytes = 0, samplerBytes = 0, ruleBytes = 0;
    /// The last two are parts of the first.
    int64_t runtimeBytes = 0, communicationBytes = 0, graphBytes = 0;
    /// Weights, caches, states, those of training, what is kept for
    /// temporaries, the runtime.
    int64_t totalBytes = 0, budgetBytes = 0, capacityBytes = 0;
    bool fits = true;
  };
  struct Memory {
    DeviceMemory perDevice;
    std::string worstDevice;
    std::vector<DeviceMemory> perStage;
    int64_t kvBytesPerToken = 0, kvBytesPerTokenPerDevice = 0,
            kvBytesPerSequence = 0, kvCapacityBytes = 0, kvCapacityTokens = 0,
            stateBytesPerSequence = 0;
  };
  Memory memory;

  /// What the deployment holds at once, beside nothing but the step: sequences
  /// of this context, tokens of such sequences, and those over all devices.
  struct Capacity {
    int64_t sequences = 0, tokens = 0, tokensPerDevice = 0;
    /// Groups of devices with sequences of their own, and how many each holds.
    int64_t replicas = 1, sequencesPerReplica = 0;
  };
  Capacity capacity;

  /// The steps of a prefill, in the order of time for each prompt; those that
  /// are alike, once. Empty where there is one.
  struct PrefillStep {
    int64_t count = 1, batch = 0, queryLength = 0, contextLength = 0;
    double stepTimeUs = 0;
  };
  /// "prefill_steps".
  std::vector<PrefillStep> prefillSteps;

  struct Flops {
    Checked total, perDevice, layersLinear, attention, attentionFullSquare,
        recurrence, logits;
  };
  Flops flops;

  struct CollectiveRow {
    std::string kind, name;
    std::vector<std::string> axes;
    int64_t groupSize = 1, count = 0, bytes = 0, wireBytesPerDevice = 0;
    double timeUs = 0;
    /// What of it goes over each tier, by name, where tiers work at once.
    std::vector<std::pair<std::string, int64_t>> wireBytesByTier = {};
    /// Of tokens that go to each node once: how many nodes.
    std::optional<double> nodesPerToken = std::nullopt;
    /// Of training: of which section, and what for.
    program::Section section = program::Section::forward;
    TrainingReport::Exposure::Purpose purpose =
        TrainingReport::Exposure::Purpose::activations;
  };
  struct Communication {
    int64_t bytesPerDevice = 0;
    std::vector<CollectiveRow> collectives;
  };
  Communication communication;

  struct Latency {
    double stepTimeUs = 0, computeTimeUs = 0, memoryTimeUs = 0,
           communicationTimeUs = 0, overheadTimeUs = 0;
    /// What of the overhead is the host's, layers included.
    double hostTimeUs = 0;
    /// Of a pipeline: what its heaviest stage waits for others.
    double pipelineTimeUs = 0;
    /// "compute", "memory", "communication", "overhead" or "pipeline": the
    /// largest.
    std::string bound;
    struct Bounds {
      double computeTimeUs = 0, memoryTimeUs = 0, communicationTimeUs = 0;
      /// Each kernel at peak rates with all that it reads and writes, one after
      /// another.
      double kernelsTimeUs = 0;
      int64_t weightsAndKvReadBytes = 0;
    };
    Bounds bounds;
    /// Kernels launched in a step, after merging.
    int64_t kernelLaunches = 0;
  };
  Latency latency;

  /// What one virtual stage hands to the next; the last one of decoding, token
  /// ids to the first.
  struct Transfer {
    int64_t fromStage = 0, toStage = 0, bytes = 0;
    /// Empty where both are on one device.
    std::string tier;
    double timeUs = 0;
    /// How often for a microbatch.
    int64_t count = 1;
  };
  struct Pipeline {
    schedule::StagePartition partition;
    /// The heaviest stage of the best split of equal counts.
    schedule::Picoseconds equalCountsPs = 0;
    /// By virtual stage and kind of step, of one microbatch.
    std::vector<Transfer> transfers;
    schedule::PipelineTimeline timeline;
    /// Of decoding: steps of which the time of the last one is the step's.
    int64_t rounds = 1;
    /// Of a step: of a round, where there are several, else of all.
    schedule::Picoseconds stepPs = 0;
  };
  /// "schedule".
  std::optional<Pipeline> pipeline;

  /// Tokens of all sequences in a step over the step's time.
  double tokensPerS = 0;

  /// What the devices of the plan cost and draw; absent where nothing says it.
  struct Cost {
    std::optional<double> dollarsPerDeviceHour, dollarsPerMillionTokens;
    std::optional<double> boardPowerW, idlePowerW, joulesPerToken;
    /// Of the step: when a device computes, reads or sends.
    double busyShare = 0;
  };
  Cost cost;

  /// What an iteration does, where the program has backwards.
  std::optional<TrainingReport> training;

  /// What the service does, where the module says what it is asked.
  std::optional<ServingReport> serving;

  std::vector<BreakdownRow> byOp, byLayer;
  /// Filled with the derivations.
  std::vector<KernelRow> byKernel;
  /// Of the chip; 0 where `byKernel` is not filled.
  double memoryBandwidthBytesPerS = 0;
  /// Experts on the devices that share them; nothing where nothing is known of
  /// their loads.
  std::optional<placement::ExpertPlacement> placement;
  std::vector<Assumption> assumptions;
  std::vector<Warning> warnings;
  /// Figures by falling impact on the step, then on memory; filled on demand.
  std::vector<Impact> impacts;
  /// The time of a step as a sum; filled on demand, not where it has backwards.
  std::vector<WaterfallStep> waterfall;
  /// By report path ("memory.per_device.weight_bytes"); filled on demand.
  std::map<std::string, Derivation> derivations;
  /// The plan as JSON text (`autopar.plan/1`).
  std::string plan;
};

} // namespace autopar::report

#endif // AUTOPAR_REPORT_REPORT_H
