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

/// An assumption of the estimate, and its source.
struct Assumption {
  std::string name, value, source;
};

/// A warning about the result, with an alternative that works if there is one.
struct Warning {
  std::string text;
  /// The kind for machines: "idle-devices". Empty for warnings about the
  /// figures of the estimate, not about the program.
  std::string kind;
  /// The subject: the step, the devices, or record `record` of the cost
  /// program.
  enum class Subject { step, mesh, resident, collective };
  Subject subject = Subject::step;
  size_t record = 0;
};

/// A term of the time of a step: first the time at the chip's peaks, then each
/// loss.
struct WaterfallStep {
  const char *name;
  double timeUs;
  /// Formula over the report's numbers.
  const char *formula;
};

/// The derivation of a number of the report. The formula can be evaluated from
/// the inputs alone: "sum of the inputs", or an expression of the last parts of
/// their names.
struct Derivation {
  std::string formula;
  /// Decimal numbers, by path of the report, plan, hardware or runtime, or by
  /// record of the cost program: `weights/<layer>/<name>`,
  /// `caches/<layer>/<name>`, `states/<layer>/<name>`, `activations/<name>`,
  /// `kernels/<name>`, `collectives/<name>`. Names are unique.
  std::vector<std::pair<std::string, std::string>> inputs;
  std::vector<std::string> sources;
  /// For readers: the derivation of an input, by its name, and the figures
  /// behind the inputs, by their paths.
  std::vector<std::pair<std::string, std::string>> terms;
  /// For readers: a common property of the inputs; may be empty.
  std::string note;
};

/// The effect of 1 % more of a figure.
struct Impact {
  struct Change {
    double stepTimeUs = 0, totalBytes = 0, kvCapacityTokens = 0;
  };
  /// The figure's path, such as "chips.h100-sxm.memory_bandwidth".
  std::string path;
  double value = 0;
  std::string source;
  /// Change by 1 % more, from the slope.
  Change more;
  /// Change by 1 % less, if the slope on that side differs (a kink).
  std::optional<Change> less;
};

/// One row of the breakdown: time, FLOPs and bytes of one device.
struct BreakdownRow {
  std::string name;
  int64_t count = 0;
  double timeUs = 0;
  Checked flops, bytes;
};

/// All launches of a kernel in a step of one device; for a launch that several
/// kernels share, the kernel's share.
struct KernelRow : BreakdownRow {
  std::string op, layer;
  /// The largest part of its time: "compute", "memory" or "overhead".
  std::string bound;
  /// Time of its FLOPs or of its bytes at the chip's peaks, whichever is
  /// longer.
  double peakTimeUs = 0;
  /// Peak of the units and the format that it computes in; 0 without FLOPs.
  double peakFlopsPerS = 0;
};

/// The struct behind every output format. Counts are exact, those of type
/// `Checked` are valid; times are in us. Comments give the JSON keys where they
/// differ.
struct Report {
  struct Model {
    std::string name;
    int64_t parameters = 0, activeParameters = 0, checkpointBytes = 0;
    /// Parameters in the checkpoint that are not loaded; 0 is not written.
    int64_t storedOnlyParameters = 0;
  };
  Model model;

  struct Axis {
    std::string name, tier;
    int64_t size = 1, stride = 1;
  };
  struct Mesh {
    /// Axes and degrees by name: tp, cp, dp, ep, etp, edp, dcp, attention_tp,
    /// and other axes of the mesh.
    std::map<std::string, int64_t> degrees;
    int64_t devices = 1;
    /// Routed experts per layer and device; 0 if there are none, which is not
    /// written.
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
    /// Training only: gradients, optimizer state, the largest sum of values
    /// saved for backwards, copies that an update makes, the allocator's waste,
    /// and the part of those copies that reuses memory of saved values.
    int64_t gradientBytes = 0, optimizerBytes = 0, savedBytes = 0,
            updateBytes = 0, allocatorBytes = 0, reusedBytes = 0;
    /// Temporaries of this step; memory reserved for temporaries of all steps,
    /// the maximum of those of this step, of the profiling run and its sampler,
    /// and of the runtime's rule.
    int64_t activationBytes = 0, reservedBytes = 0;
    int64_t profileBytes = 0, samplerBytes = 0, ruleBytes = 0;
    /// The last two are parts of the first.
    int64_t runtimeBytes = 0, communicationBytes = 0, graphBytes = 0;
    /// The total of weights, caches, states, the values of training, reserved
    /// temporaries and the runtime.
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

  /// The capacity of the deployment if it runs nothing but this step: sequences
  /// of this context, their tokens, and the tokens per device.
  struct Capacity {
    int64_t sequences = 0, tokens = 0, tokensPerDevice = 0;
    /// Groups of devices with sequences of their own, and the sequences of
    /// each.
    int64_t replicas = 1, sequencesPerReplica = 0;
  };
  Capacity capacity;

  /// The steps of a prefill, in order for each prompt; equal steps once. Empty
  /// if there is only one.
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
    /// Bytes per tier, by name, if tiers work at once.
    std::vector<std::pair<std::string, int64_t>> wireBytesByTier = {};
    /// If tokens go to each node once: the mean number of nodes per token.
    std::optional<double> nodesPerToken = std::nullopt;
    /// Training only: the section and the purpose.
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
    /// The host's part of the overhead, layers included.
    double hostTimeUs = 0;
    /// For a pipeline: time that the heaviest stage waits for others.
    double pipelineTimeUs = 0;
    /// The largest of "compute", "memory", "communication", "overhead" and
    /// "pipeline".
    std::string bound;
    struct Bounds {
      double computeTimeUs = 0, memoryTimeUs = 0, communicationTimeUs = 0;
      /// The sum over kernels at peak rates, each with all its reads and
      /// writes.
      double kernelsTimeUs = 0;
      int64_t weightsAndKvReadBytes = 0;
    };
    Bounds bounds;
    /// Kernels launched per step, after fusion.
    int64_t kernelLaunches = 0;
  };
  Latency latency;

  /// The transfer from one virtual stage to the next. In decode the last one
  /// sends token ids to the first.
  struct Transfer {
    int64_t fromStage = 0, toStage = 0, bytes = 0;
    /// Empty if both stages are on one device.
    std::string tier;
    double timeUs = 0;
    /// Transfers per microbatch.
    int64_t count = 1;
  };
  struct Pipeline {
    schedule::StagePartition partition;
    /// Time of the heaviest stage in the best split with equal numbers of
    /// layers.
    schedule::Picoseconds equalCountsPs = 0;
    /// Share of that time which the partition saves; 0 if it is unknown.
    double gainOverEqualCounts() const {
      auto equal = static_cast<double>(equalCountsPs);
      auto heaviest = static_cast<double>(partition.heaviestPs());
      return equal > 0 ? 1 - heaviest / equal : 0;
    }
    /// By virtual stage and kind of step, for one microbatch.
    std::vector<Transfer> transfers;
    schedule::PipelineTimeline timeline;
    /// Decode only: the number of simulated steps; the last one gives the step
    /// time.
    int64_t rounds = 1;
    /// Time of a step: of a round if there are several, else of the whole
    /// schedule.
    schedule::Picoseconds stepPs = 0;
  };
  /// "schedule".
  std::optional<Pipeline> pipeline;

  /// Tokens of all sequences of a step over the step's time.
  double tokensPerS = 0;

  /// Dollars and joules of the plan's devices; absent if the price or power is
  /// not known.
  struct Cost {
    std::optional<double> dollarsPerDeviceHour, dollarsPerMillionTokens;
    std::optional<double> boardPowerW, idlePowerW, joulesPerToken;
    /// Share of the step in which a device computes, reads or sends.
    double busyShare = 0;
  };
  Cost cost;

  /// Numbers of an iteration, if the program has backwards.
  std::optional<TrainingReport> training;

  /// Numbers of the service, if the module has requests.
  std::optional<ServingReport> serving;

  std::vector<BreakdownRow> byOp, byLayer;
  /// Filled with the derivations.
  std::vector<KernelRow> byKernel;
  /// Bandwidth of the chip; 0 if `byKernel` is empty.
  double memoryBandwidthBytesPerS = 0;
  /// Placement of experts on the devices that share them; absent if their loads
  /// are not known.
  std::optional<placement::ExpertPlacement> placement;
  std::vector<Assumption> assumptions;
  std::vector<Warning> warnings;
  /// Figures by falling impact on the step, then on memory; filled on demand.
  std::vector<Impact> impacts;
  /// The time of a step as a sum; filled on demand, and not for programs with
  /// backwards.
  std::vector<WaterfallStep> waterfall;
  /// Derivations by report path ("memory.per_device.weight_bytes"); filled on
  /// demand.
  std::map<std::string, Derivation> derivations;
  /// The plan as JSON text (`autopar.plan/1`).
  std::string plan;
};

} // namespace autopar::report

#endif // AUTOPAR_REPORT_REPORT_H
