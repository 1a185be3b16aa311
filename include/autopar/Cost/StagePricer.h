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

/// The path of microbatches through stages.
struct PipelineShape {
  schedule::ScheduleKind kind = schedule::ScheduleKind::inference;
  int64_t stages = 1, interleave = 1, microbatches = 1;

  /// Whether a device has two stages, each for half of the microbatches.
  bool isFolded() const { return kind == schedule::ScheduleKind::dual_pipe; }
  /// Whether one device has both the first and the last stage.
  bool hasBothEnds() const { return stages == 1 || isFolded(); }
  bool hasOneStage() const { return stages * interleave == 1; }
  /// How often a device runs each of its layers: once per microbatch, or for
  /// half of them if it has two stages.
  int64_t passes() const {
    return isFolded() ? std::max<int64_t>(1, microbatches / 2) : microbatches;
  }
};

/// The price of a layer, or of the operations before or after all layers, on a
/// device of its own.
struct PipelinePart {
  /// Cost of one pass, without the host's time; includes the caches of the
  /// whole batch.
  schedule::LayerCost cost;
  schedule::Picoseconds communicationPs = 0;
  /// Times of programs with backwards; `cost` then sums forward and backward.
  TrainingTimes training = {};
  int64_t reservedBytes = 0, runtimeBytes = 0;
  /// Time of one step of each kind, for passes of several steps. The steps add
  /// up to the pass.
  struct Step {
    schedule::Picoseconds timePs = 0, communicationPs = 0;
  };
  std::vector<Step> steps = {};
};

/// The priced parts that stages consist of.
struct PricedLayers {
  /// Distinct layers; index into `parts` for each layer of the order.
  std::vector<PipelinePart> parts;
  std::vector<uint32_t> partOf;
  /// The operations before and after all layers; `ends` is their sum on one
  /// device.
  PipelinePart before, after, ends;
  /// The runtime of a program with backwards; null for others.
  const runtime::Runtime *trainer = nullptr;

  /// The part of layer `index` of the order.
  const PipelinePart &layer(int64_t index) const {
    return parts[partOf[index]];
  }
  /// Removes the second gather of weights that both ends use, for a single
  /// stage.
  void gatherOnce();
  /// Whether the program has backwards.
  bool isTraining() const { return trainer != nullptr; }
  /// The times of a program with backwards, without the communication that its
  /// runtime hides.
  TrainingTimes exposed(const TrainingTimes &times) const {
    return exposedOf(times, *trainer);
  }
};

/// The parts that device `device` runs per microbatch, for virtual stages that
/// have the `ranges` of `order` (indices into `LayerStack::layers`). With
/// dual_pipe a device runs half of the microbatches, equally many from either
/// end. `borders` says whether kernels of neighbouring layers are launched as
/// one.
program::PartCounts countsOf(const program::CostProgram &program,
                             const std::vector<schedule::LayerRange> &ranges,
                             const std::vector<uint32_t> &order,
                             const PipelineShape &shape, int64_t device,
                             bool borders);

/// The tape that prices stages, for a strategy with `Counting::parts`.
Tape collectParts(const Strategy &strategy);

/// The index into `count` `Strategy::transferBytes` of the input of a stage
/// that begins with layer `layer` of the order. The number of layers stands for
/// a stage without layers, a negative `layer` for the beginning of the model.
size_t transferInto(const std::vector<uint32_t> &order, size_t count,
                    int64_t layer);

/// Prices the parts of stages.
class StagePricer : public PricedLayers {
public:
  /// All arguments outlive it. `tape` is the tape of the parts of a strategy of
  /// `program`.
  StagePricer(const program::CostProgram &program, const Tape &tape,
              Launching launching, const hardware::Machine &machine,
              const runtime::Runtime &runtime,
              std::optional<double> memoryUtilization);

  /// Replaces the value of figure `index` of the strategy. Earlier prices stay
  /// as they are.
  void setFigure(uint32_t index, double value) {
    pricer.setFigure(index, value);
  }
  /// Prices the layers `order`, and the operations around them, for one
  /// microbatch on the axes of `layout`. Layers of one kind have one price if
  /// the borders around them are equal. With `chunks`, the time of a microbatch
  /// is that of all chunks.
  Refusal price(const std::vector<uint32_t> &order, const Layout &layout,
                const program::Workload &microbatch, const PipelineShape &shape,
                std::vector<program::PrefillChunk> chunks = {});
  /// Sets another schedule with equal microbatches and number of stages, for a
  /// program with backwards. Prices of parts stay as they are.
  void reshape(const PipelineShape &wanted);
  /// Memory of a device with these layers for all microbatches; in training
  /// without saved values.
  struct StageMemory {
    double totalBytes = 0;
    bool fits = false;
    double activationBytes = 0, budgetBytes = 0, updateBytes = 0;
  };
  Refusal priceStage(const std::vector<schedule::LayerRange> &ranges,
                     int64_t device, StageMemory &memory);
  /// Bytes that a microbatch hands on in a step of this kind, indexed as by
  /// `transferInto`.
  double transferBytes(size_t kind, int64_t layer) const;
  /// Bytes that virtual stage `stage` keeps of its output until the backward.
  /// Zero for a runtime that frees it (`TrainingFigures::keepsOutputs`).
  int64_t keptOutputBytes(const std::vector<schedule::LayerRange> &ranges,
                          size_t stage) const;
  /// The problem of dividing the layers into stages. Temporaries and the
  /// runtime occupy every device, so those of layers reduce the limit;
  /// embedding and head are charged for temporaries above that.
  schedule::StagingProblem problem() const;
  /// Bytes of gradients on a device that the first and the last stage sum; 0 if
  /// one device has both stages.
  int64_t copiedGradientBytes() const {
    return shape.hasBothEnds() ? 0 : copiedBytes;
  }
  /// Time that stragglers add to an iteration of `time`.
  schedule::Picoseconds stragglersOf(schedule::Picoseconds time) const;

  int64_t budgetBytes = 0;
  /// For a budget that is a share of the memory that weights and temporaries
  /// leave free, that share; else 1.
  double shareOfFree = 1;

private:
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
  /// `lostShareOf` for the program and the runtime.
  double lost = 0;
  /// `TotalNodes::copiedGradientBytes`.
  int64_t copiedBytes = 0;
  /// Bytes handed on, by kind of step, then by layer of the stack, then for the
  /// model's inputs.
  std::vector<std::vector<double>> transfers;
  /// Memory of devices, by their parts.
  std::vector<std::pair<program::PartCounts, StageMemory>> stages;
  std::vector<uint32_t> order;
  /// Counts of each distinct layer of the order.
  std::vector<program::PartCounts> partCounts;
  Layout layout;
  PipelineShape shape;
  program::Workload microbatch;
  std::vector<program::PrefillChunk> chunks;
};

} // namespace autopar::cost

#endif // AUTOPAR_COST_STAGEPRICER_H
