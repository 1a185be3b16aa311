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

/// How microbatches go through stages.
struct PipelineShape {
  schedule::ScheduleKind kind = schedule::ScheduleKind::inference;
  int64_t stages = 1, interleave = 1, microbatches = 1;

  /// Whether a device has two stages, each for half of the microbatches.
  bool isFolded() const { return kind == schedule::ScheduleKind::dual_pipe; }
  /// Whether a device has the first stage and the last.
  bool hasBothEnds() const { return stages == 1 || isFolded(); }
  bool hasOneStage() const { return stages * interleave == 1; }
  /// How often a device runs each of its layers: for each microbatch or, where
  /// it has two stages, for half of them.
  int64_t passes() const {
    return isFolded() ? std::max<int64_t>(1, microbatches / 2) : microbatches;
  }
};

/// A layer, or what lies before or after all layers, on a device of its own.
struct PipelinePart {
  /// Of one pass, without the host's time; with what the whole batch keeps.
  schedule::LayerCost cost;
  schedule::Picoseconds communicationPs = 0;
  /// Of programs that train, of which `cost` has the forward and the backward.
  TrainingTimes training = {};
  int64_t reservedBytes = 0, runtimeBytes = 0;
  /// Of one step of a pass that takes several, by kind; they add up to the
  /// pass.
  struct Step {
    schedule::Picoseconds timePs = 0, communicationPs = 0;
  };
  std::vector<Step> steps = {};
};

/// What stages are put together from.
struct PricedLayers {
  /// Distinct layers, and which of them each layer of the order is.
  std::vector<PipelinePart> parts;
  std::vector<uint32_t> partOf;
  /// Also what lies at both ends, where one device has them.
  PipelinePart before, after, ends;
  /// What a program with backwards runs on; of others null.
  const runtime::Runtime *trainer = nullptr;

  /// The part that layer `index` of the order is.
  const PipelinePart &layer(int64_t index) const {
    return parts[partOf[index]];
  }
  /// A single stage gathers once what both ends use.
  void gatherOnce();
  /// Whether the program has backwards.
  bool isTraining() const { return trainer != nullptr; }
  /// Of such a program, without what its runtime hides.
  TrainingTimes exposed(const TrainingTimes &times) const {
    return exposedOf(times, *trainer);
  }
};

/// What device `device` runs of each microbatch, where virtual stages are
/// `ranges` of the layers `order` (indices into `LayerStack::layers`). Of
/// dual_pipe it runs half of the microbatches, of which as many come from
/// either end. `borders`: runs are launched with those that follow them across
/// layers.
program::PartCounts countsOf(const program::CostProgram &program,
                             const std::vector<schedule::LayerRange> &ranges,
                             const std::vector<uint32_t> &order,
                             const PipelineShape &shape, int64_t device,
                             bool borders);

/// The tape that stages are priced by, of a strategy that counts parts.
Tape collectParts(const Strategy &strategy);

/// Which of `count` `Strategy::transferBytes` the stage is handed that begins
/// with layer `layer` of the order; the number of layers: one that has none;
/// below 0: the model's beginning.
size_t transferInto(const std::vector<uint32_t> &order, size_t count,
                    int64_t layer);

/// Prices what stages are put together from.
class StagePricer : public PricedLayers {
public:
  /// All arguments outlive it. `tape` is that of the parts of a strategy of
  /// `program`.
  StagePricer(const program::CostProgram &program, const Tape &tape,
              Launching launching, const hardware::Machine &machine,
              const runtime::Runtime &runtime,
              std::optional<double> memoryUtilization);

  /// Replaces the value of figure `index` of the strategy; what was priced
  /// before stays.
  void setFigure(uint32_t index, double value) {
    pricer.setFigure(index, value);
  }
  /// Prices the layers `order`, and what lies around them, for one microbatch
  /// on the axes of `layout`. Layers of one kind cost the same where the
  /// borders around them do. A microbatch that goes through in `chunks` takes
  /// the time of those; none: it goes through at once.
  Refusal price(const std::vector<uint32_t> &order, const Layout &layout,
                const program::Workload &microbatch, const PipelineShape &shape,
                std::vector<program::PrefillChunk> chunks = {});
  /// Another way of microbatches, as large, through as many stages, of a
  /// program that trains: its parts cost the same.
  void reshape(const PipelineShape &wanted);
  /// What a device with these layers holds, of all microbatches; of training
  /// without saved values.
  struct StageMemory {
    double totalBytes = 0;
    bool fits = false;
    double activationBytes = 0, budgetBytes = 0, updateBytes = 0;
  };
  Refusal priceStage(const std::vector<schedule::LayerRange> &ranges,
                     int64_t device, StageMemory &memory);
  /// What a microbatch hands on in a step of this kind, as `transferInto`.
  double transferBytes(size_t kind, int64_t layer) const;
  /// What virtual stage `stage` keeps until a backward of what it handed on;
  /// a runtime may set it free (`TrainingFigures::keepsOutputs`).
  int64_t keptOutputBytes(const std::vector<schedule::LayerRange> &ranges,
                          size_t stage) const;
  /// The layers, to be laid over the stages of the shape. Temporaries and the
  /// runtime lie on every device: those of layers come off the limit, what
  /// embedding and head need above that is theirs.
  schedule::StagingProblem problem() const;
  /// Gradients on a device that the devices of the first stage and the last
  /// sum: none where those are the same.
  int64_t copiedGradientBytes() const {
    return shape.hasBothEnds() ? 0 : copiedBytes;
  }
  /// What stragglers add to an iteration of `time`.
  schedule::Picoseconds stragglersOf(schedule::Picoseconds time) const;

  int64_t budgetBytes = 0;
  /// Of a budget that is a share of what weights and temporaries leave, that
  /// share; else 1.
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
  /// `lostShareOf` of both.
  double lost = 0;
  /// `TotalNodes::copiedGradientBytes`.
  int64_t copiedBytes = 0;
  /// By kind of step, then by layer of the stack, then of the model's inputs.
  std::vector<std::vector<double>> transfers;
  /// Of devices, by what they run.
  std::vector<std::pair<program::PartCounts, StageMemory>> stages;
  std::vector<uint32_t> order;
  /// Of each distinct layer of the order.
  std::vector<program::PartCounts> partCounts;
  Layout layout;
  PipelineShape shape;
  program::Workload microbatch;
  std::vector<program::PrefillChunk> chunks;
};

} // namespace autopar::cost

#endif // AUTOPAR_COST_STAGEPRICER_H
