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

/// An assumption that the estimate makes, and its source.
struct Assumption {
  std::string name, value, source;
};

/// A warning about the result, with an alternative that works if there is one.
struct Warning {
  std::string text;
  /// The kind of the warning as a stable word, such as "idle-devices". "" for
  /// warnings about figures of the estimate instead of the program.
  std::string kind;
  /// What the warning is about: the step, the devices, or record `record` of
  /// the cost program.
  enum class Subject { step, mesh, resident, collective };
  Subject subject = Subject::step;
  size_t record = 0;
};

/// A term of the step's time: first the time at the chip's peak rates, then
/// each loss.
struct WaterfallStep {
  const char *name;
  double timeUs;
  /// The formula of the term, over numbers of the report.
  const char *formula;
};

/// How a number of the report was computed. The formula can be evaluated from
/// the inputs alone: it is "sum of the inputs", or an expression of the last
/// parts of their names.
struct Derivation {
  std::string formula;
  /// The inputs as decimal numbers, by their path in the report, plan, hardware
  /// or runtime, or by record of the cost program: `weights/<layer>/<name>`,
  /// `caches/<layer>/<name>`, `states/<layer>/<name>`, `activations/<name>`,
  /// `kernels/<name>`, `collectives/<name>`. Names are unique.
  std::vector<std::pair<std::string, std::string>> inputs;
  std::vector<std::string> sources;
  /// Further explanations for people: how an input was computed, by its name,
  /// and the hardware and runtime figures behind the inputs, by their paths.
  std::vector<std::pair<std::string, std::string>> terms;
  /// A property that all inputs share, for people; may be "".
  std::string note;
};

/// How much the result changes if a figure changes by 1 %.
struct Impact {
  struct Change {
    double stepTimeUs = 0, totalBytes = 0, kvCapacityTokens = 0;
  };
  /// The path of the figure, such as "chips.h100-sxm.memory_bandwidth".
  std::string path;
  double value = 0;
  std::string source;
  /// The change if the figure is 1 % larger, computed from the slope.
  Change more;
  /// The change if the figure is 1 % smaller, if the slope on that side differs
  /// (a kink).
  std::optional<Change> less;
};

/// One row of the breakdown of a step: time, FLOPs and bytes on one device.
struct BreakdownRow {
  std::string name;
  int64_t count = 0;
  double timeUs = 0;
  Checked flops, bytes;
};

/// All launches of a kernel in a step on one device. If several kernels share a
/// launch, the row has the kernel's share of it.
struct KernelRow : BreakdownRow {
  std::string op, layer;
  /// The largest part of the kernel's time: "compute", "memory" or "overhead".
  std::string bound;
  /// Time of the kernel's FLOPs or of its bytes at the chip's peak rates,
  /// whichever is longer.
  double peakTimeUs = 0;
  /// Peak rate for the matrix units and the number format that the kernel uses;
  /// 0 for kernels without FLOPs.
  double peakFlopsPerS = 0;
};

/// The struct from which every output format is written. Counts are exact, and
/// those of type `Checked` are valid; times are in us. Comments state JSON keys
/// that differ from the member's name.
struct Report {
  struct Model {
    std::string name;
    int64_t parameters = 0, activeParameters = 0, checkpointBytes = 0;
    /// Number of parameters in the checkpoint that are not loaded; 0 is not
    /// written.
    int64_t storedOnlyParameters = 0;
  };
  Model model;

  struct Axis {
    std::string name, tier;
    int64_t size = 1, stride = 1;
  };
  struct Mesh {
    /// Sizes of axes and degrees by name: tp, cp, dp, ep, etp, edp, dcp,
    /// attention_tp, and other axes of the mesh.
    std::map<std::string, int64_t> degrees;
    int64_t devices = 1;
    /// Number of routed experts per layer and device; 0 if there are none,
    /// which is not written.
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
    /// Only in training: bytes of gradients, of optimizer states, of the values
    /// saved for backwards at their peak, of the copies that an update makes,
    /// of the allocator's waste, and the part of the update's copies that
    /// reuses memory of saved values.
    int64_t gradientBytes = 0, optimizerBytes = 0, savedBytes = 0,
            updateBytes = 0, allocatorBytes = 0, reusedBytes = 0;
    /// `activationBytes`: temporaries of this step. `reservedBytes`: memory
    /// reserved for temporaries of all steps, the maximum of those of this
    /// step, of the profiling run and its sampler (`profileBytes`,
    /// `samplerBytes`), and of the runtime's rule (`ruleBytes`).
    int64_t activationBytes = 0, reservedBytes = 0;
    int64_t profileBytes = 0, samplerBytes = 0, ruleBytes = 0;
    /// Bytes of the runtime; `communicationBytes` and `graphBytes` are parts of
    /// `runtimeBytes`.
    int64_t runtimeBytes = 0, communicationBytes = 0, graphBytes = 0;
    /// `totalBytes` sums weights, KV caches, states, what training keeps,
    /// reserved temporaries, and the runtime.
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

  /// How much the deployment has room for if it runs nothing but this step:
  /// sequences of this context, their tokens, and the tokens per device.
  struct Capacity {
    int64_t sequences = 0, tokens = 0, tokensPerDevice = 0;
    /// Number of device groups with sequences of their own, and the sequences
    /// of each group.
    int64_t replicas = 1, sequencesPerReplica = 0;
  };
  Capacity capacity;

  /// The steps of a prefill, in order for each prompt; equal steps occur once,
  /// with their count. Empty if there is only one step.
  struct PrefillStep {
    int64_t count = 1, batch = 0, queryLength = 0, contextLength = 0;
    double stepTimeUs = 0;
  };
  /// The steps of a prefill; JSON has them as "prefill_steps".
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
    /// Bytes sent per tier, by the tier's name, if tiers work at once.
    std::vector<std::pair<std::string, int64_t>> wireBytesByTier = {};
    /// Mean number of nodes to which a token is sent, if a token is sent once
    /// to each node.
    std::optional<double> nodesPerToken = std::nullopt;
    /// Only in training: the section in which the collective runs, and its
    /// purpose.
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
    /// The host's part of the overhead, the time per layer included.
    double hostTimeUs = 0;
    /// In a pipeline, the time in us that the slowest stage waits for other
    /// stages.
    double pipelineTimeUs = 0;
    /// The largest part of the step's time: "compute", "memory",
    /// "communication", "overhead" or "pipeline".
    std::string bound;
    struct Bounds {
      double computeTimeUs = 0, memoryTimeUs = 0, communicationTimeUs = 0;
      /// Sum over kernels of their times at peak rates, in which each kernel
      /// makes all its reads and writes.
      double kernelsTimeUs = 0;
      int64_t weightsAndKvReadBytes = 0;
    };
    Bounds bounds;
    /// Number of kernels launched per step, after fusion.
    int64_t kernelLaunches = 0;
  };
  Latency latency;

  /// The transfer from one virtual stage to the next. In decode the last stage
  /// sends token ids to the first.
  struct Transfer {
    int64_t fromStage = 0, toStage = 0, bytes = 0;
    /// Name of the tier of links; "" if both stages are on one device.
    std::string tier;
    double timeUs = 0;
    /// Number of transfers per microbatch.
    int64_t count = 1;
  };
  struct Pipeline {
    schedule::StagePartition partition;
    /// Time of the slowest stage in the best split with equal numbers of
    /// layers.
    schedule::Picoseconds equalCountsPs = 0;
    /// Returns the share of `equalCountsPs` that the chosen split saves; 0 if
    /// it is not known.
    double gainOverEqualCounts() const {
      auto equal = static_cast<double>(equalCountsPs);
      auto heaviest = static_cast<double>(partition.heaviestPs());
      return equal > 0 ? 1 - heaviest / equal : 0;
    }
    /// The transfers of one microbatch, by virtual stage and kind of step.
    std::vector<Transfer> transfers;
    schedule::PipelineTimeline timeline;
    /// Only in decode: number of simulated steps; the last one gives the step
    /// time.
    int64_t rounds = 1;
    /// Time of a step: of one round if there are several, else of the whole
    /// schedule.
    schedule::Picoseconds stepPs = 0;
  };
  /// The pipeline of the plan, if it has one; JSON has it as "schedule".
  std::optional<Pipeline> pipeline;

  /// Tokens of all sequences of a step divided by the step's time.
  double tokensPerS = 0;

  /// Dollars and joules of the plan's devices; absent if the price or the power
  /// is not known.
  struct Cost {
    std::optional<double> dollarsPerDeviceHour, dollarsPerMillionTokens;
    std::optional<double> boardPowerW, idlePowerW, joulesPerToken;
    /// Share of the step in which a device computes, reads memory or sends.
    double busyShare = 0;
  };
  Cost cost;

  /// The numbers of a training iteration; absent for programs without
  /// backwards.
  std::optional<TrainingReport> training;

  /// The numbers of the service; absent if the module states no requests.
  std::optional<ServingReport> serving;

  std::vector<BreakdownRow> byOp, byLayer;
  /// The rows by kernel; filled only if derivations are asked for.
  std::vector<KernelRow> byKernel;
  /// Memory bandwidth of the chip; 0 if `byKernel` is empty.
  double memoryBandwidthBytesPerS = 0;
  /// Placement of experts on the devices that share them; absent if their loads
  /// are not known.
  std::optional<placement::ExpertPlacement> placement;
  std::vector<Assumption> assumptions;
  std::vector<Warning> warnings;
  /// The figures sorted by falling effect on the step time, then on memory;
  /// filled only if asked for.
  std::vector<Impact> impacts;
  /// The step's time as a sum of terms; filled only if asked for, and not for
  /// programs with backwards.
  std::vector<WaterfallStep> waterfall;
  /// The derivations by path in the report ("memory.per_device.weight_bytes");
  /// filled only if asked for.
  std::map<std::string, Derivation> derivations;
  /// The plan as JSON text (`autopar.plan/1`).
  std::string plan;
};

} // namespace autopar::report

#endif // AUTOPAR_REPORT_REPORT_H
