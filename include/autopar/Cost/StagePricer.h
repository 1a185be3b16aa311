//===- StagePricer.h - Layers and stages, priced ----------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_COST_STAGEPRICER_H
#define AUTOPAR_COST_STAGEPRICER_H

#include "autopar/Cost/Pricer.h"
#include "autopar/Cost/TrainingTimes.h"
#include "autopar/Schedule/Schedule.h"
#include "autopar/Schedule/Staging.h"

namespace autopar::cost {

/// The schedule of a pipeline, with its numbers of stages and microbatches.
struct PipelineShape {
  schedule::ScheduleKind kind = schedule::ScheduleKind::inference;
  int64_t stages = 1, interleave = 1, microbatches = 1;

  /// Whether each device has two stages, each for half of the microbatches.
  bool isFolded() const { return kind == schedule::ScheduleKind::dual_pipe; }
  /// Whether one device has both the first and the last stage of the model.
  bool hasBothEnds() const { return stages == 1 || isFolded(); }
  bool hasOneStage() const { return stages * interleave == 1; }
  /// How often a device runs each of its layers in a step: once per microbatch,
  /// or for half of the microbatches if it has two stages.
  int64_t passes() const {
    return isFolded() ? std::max<int64_t>(1, microbatches / 2) : microbatches;
  }
};

/// The price of a layer, or of the operations before or after all layers,
/// computed as if it were alone on a device.
struct PipelinePart {
  /// Cost of one pass without the host's time. The KV caches in it are those of
  /// the whole batch.
  schedule::LayerCost cost;
  schedule::Picoseconds communicationPs = 0;
  /// Times of a program with backwards. `cost` then sums forward and backward.
  TrainingTimes training = {};
  int64_t reservedBytes = 0, runtimeBytes = 0;
  /// Times of one step of each kind, if a pass consists of several steps. The
  /// times of the steps add up to that of the pass.
  struct Step {
    schedule::Picoseconds timePs = 0, communicationPs = 0;
  };
  std::vector<Step> steps = {};
};

/// The prices of all parts that pipeline stages consist of.
struct PricedLayers {
  /// The price of each distinct layer, and for each layer of the order its
  /// index into `parts`.
  std::vector<PipelinePart> parts;
  std::vector<uint32_t> partOf;
  /// The price of the operations before all layers and after them; `ends` is
  /// the price of both on one device.
  PipelinePart before, after, ends;
  /// The runtime, for programs with backwards; null for other programs.
  const runtime::Runtime *trainer = nullptr;

  /// Returns the price of layer `index` of the order.
  const PipelinePart &layer(int64_t index) const {
    return parts[partOf[index]];
  }
  /// Counts a gather of weights once that both ends of the model use, for a
  /// pipeline with a single stage.
  void gatherOnce();
  /// Whether the program has backwards.
  bool isTraining() const { return trainer != nullptr; }
  /// Returns `times` without the communication that the runtime hides behind
  /// computation.
  TrainingTimes exposed(const TrainingTimes &times) const {
    return exposedOf(times, *trainer);
  }
};

/// Returns how often device `device` runs each kind of layer per microbatch, if
/// virtual stage i has the layers `ranges[i]` of `order` (indices into
/// `LayerStack::layers`). With dual_pipe a device runs half of the
/// microbatches, equally many from either end. `borders` says whether kernels
/// of neighbouring layers are launched as one.
program::PartCounts countsOf(const program::CostProgram &program,
                             const std::vector<schedule::LayerRange> &ranges,
                             const std::vector<uint32_t> &order,
                             const PipelineShape &shape, int64_t device,
                             bool borders);

/// Compiles the tape that prices pipeline stages, for a strategy with
/// `Counting::parts`.
Tape collectParts(const Strategy &strategy);

/// Returns the index into the `count` entries of `Strategy::transferBytes` that
/// holds the input of a stage beginning with layer `layer` of the order. A
/// `layer` equal to the number of layers stands for a stage without layers, a
/// negative one for the beginning of the model.
size_t transferInto(const std::vector<uint32_t> &order, size_t count,
                    int64_t layer);

/// Prices the layers of a pipeline, and the memory of its devices.
class StagePricer : public PricedLayers {
public:
  /// The arguments must outlive this object. `tape` is the tape of the parts
  /// (`collectParts`) of a strategy of `program`.
  StagePricer(const program::CostProgram &program, const Tape &tape,
              Launching launching, const hardware::Machine &machine,
              const runtime::Runtime &runtime,
              std::optional<double> memoryUtilization);

  /// Replaces the value of figure `index` of the strategy, for later prices.
  void setFigure(uint32_t index, double value) {
    pricer.setFigure(index, value);
  }
  /// Prices the layers `order`, and the operations before and after them, for
  /// one microbatch on the mesh `layout`. Layers of one kind have one price if
  /// the borders around them are equal. With `chunks`, the time of a microbatch
  /// is the sum over all chunks.
  Refusal price(const std::vector<uint32_t> &order, const Layout &layout,
                const program::Workload &microbatch, const PipelineShape &shape,
                std::vector<program::PrefillChunk> chunks = {});
  /// Sets another schedule with the same microbatches and number of stages, for
  /// a program with backwards. The prices of layers stay valid.
  void reshape(const PipelineShape &wanted);
  /// Bytes on a device with these layers for all microbatches. In training, the
  /// values saved for backwards are not included.
  struct StageMemory {
    double totalBytes = 0;
    bool fits = false;
    double activationBytes = 0, budgetBytes = 0, updateBytes = 0;
  };
  Refusal priceStage(const std::vector<schedule::LayerRange> &ranges,
                     int64_t device, StageMemory &memory);
  /// Bytes of a device that has all layers: those of weights, gradients and
  /// optimizer states, those of the runtime, and the bytes that the device has.
  /// Every layer is on a stage, so that some stage holds its share of the kept
  /// bytes.
  struct WholeMemory {
    double keptBytes = 0, runtimeBytes = 0, capacityBytes = 0;
  };
  Refusal priceWhole(WholeMemory &memory);
  /// Returns the bytes that a microbatch sends to the stage beginning with
  /// `layer`, in a step of kind `kind` (`layer` as in `transferInto`).
  double transferBytes(size_t kind, int64_t layer) const;
  /// Returns the bytes of its output that virtual stage `stage` keeps until the
  /// backward. 0 for a runtime that frees the output
  /// (`TrainingFigures::keepsOutputs`).
  int64_t keptOutputBytes(const std::vector<schedule::LayerRange> &ranges,
                          size_t stage) const;
  /// Returns the problem of dividing the layers into stages. Temporaries and
  /// the runtime occupy every device, so those of layers reduce the memory
  /// limit; embedding and head are charged for temporaries above that.
  schedule::StagingProblem problem() const;
  /// Returns the bytes of gradients on a device that the first and the last
  /// stage both hold and sum; 0 if one device has both stages.
  int64_t copiedGradientBytes() const {
    return shape.hasBothEnds() ? 0 : copiedBytes;
  }
  /// Returns the time that stragglers add to an iteration that takes `time`.
  schedule::Picoseconds stragglersOf(schedule::Picoseconds time) const;

  int64_t budgetBytes = 0;
  /// For a memory budget that is a share of what weights and temporaries leave
  /// free, that share; else 1.
  double shareOfFree = 1;

private:
  Refusal priceCounts(program::PartCounts counts);
  Refusal addPart(program::PartCounts counts, PipelinePart &part);
  void addTraining(PipelinePart &part);
  size_t transferOutput() const;
  Refusal addSteps(PipelinePart &part);
  void findParts(const std::vector<uint32_t> &layers);
  Refusal addLayers();
  void addTransfers();

  const program::CostProgram &program;
  const runtime::Runtime &runtime;
  const bool borders;
  Pricer pricer;
  std::vector<double> outputs;
  /// Share of an iteration's time that is lost (`lostShareOf`), for this
  /// program and runtime.
  double lost = 0;
  /// Bytes of gradients that both ends of the pipeline hold
  /// (`TotalNodes::copiedGradientBytes`).
  int64_t copiedBytes = 0;
  /// Bytes that a stage sends, by kind of step, then by layer of the stack; the
  /// model's own inputs come last.
  std::vector<std::vector<double>> transfers;
  /// The memory of the devices that were priced so far, by the layers that they
  /// run.
  std::vector<std::pair<program::PartCounts, StageMemory>> stages;
  std::vector<uint32_t> order;
  /// How often the program runs each record, for each distinct layer of the
  /// order.
  std::vector<program::PartCounts> partCounts;
  Layout layout;
  PipelineShape shape;
  program::Workload microbatch;
  std::vector<program::PrefillChunk> chunks;
};

} // namespace autopar::cost

#endif // AUTOPAR_COST_STAGEPRICER_H
