//===- Assumptions.cpp ----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Explain/Assumptions.h"

#include "LoadAssumptions.h"
#include "autopar/Evaluate/UsedFigures.h"

#include "autopar/Plan/Degrees.h"
#include "autopar/Support/Text.h"

#include <algorithm>

using namespace autopar;
using namespace autopar::evaluation;
using namespace autopar::explanation;
using namespace autopar::hardware;
using namespace autopar::placement;
using namespace autopar::plan;
using namespace autopar::program;
using namespace autopar::report;
using namespace autopar::runtime;
using namespace autopar::schedule;

/// The source that is given for methods which this evaluator always uses.
static constexpr const char *method = "autopar: method of the evaluator";

/// Returns the source of the memory that is reserved for temporaries.
static std::string sourceOfReserve(const EvaluatedStep &step) {
  const Runtime &runtime = step.runtime;
  const Report::DeviceMemory &device = step.report.memory.perDevice;
  if (device.reservedBytes == device.ruleBytes) {
    if (step.plan.memoryUtilization)
      return "plan: remainder under --memory-utilization";
    if (runtime.memoryUtilization.isGiven())
      return runtime.memoryUtilization.source.str();
    bool isLeast = double(device.ruleBytes) == runtime.reserveLeast.value;
    return (isLeast ? runtime.reserveLeast : runtime.reserveBytesPerToken)
        .source.str();
  }
  return (device.reservedBytes == device.samplerBytes
              ? runtime.samplerBytesPerLogit
              : runtime.profileTokens)
      .source.str();
}

static void addRuntime(const EvaluatedStep &step, Assumptions &assumptions) {
  const Runtime &runtime = step.runtime;
  auto add = [&](const char *name, const Figure &figure, std::string value) {
    assumptions.push_back({name, std::move(value), figure.source.str()});
  };
  auto bytes = [&](const char *name, const Figure &figure) {
    if (figure.value > 0)
      add(name, figure, formatBytes(static_cast<int64_t>(figure.value)));
  };
  if (!step.plan.memoryUtilization && runtime.budgetRule != BudgetRule::reserve)
    add("runtime's share of memory", runtime.memoryUtilization,
        formatNumber(runtime.memoryUtilization.value));
  bytes("device context", runtime.contextBytes);
  bytes("libraries", runtime.libraryBytes);
  if (step.communicates())
    bytes("communication buffers", runtime.communicationBytes);
  const Report::DeviceMemory &device = step.report.memory.perDevice;
  if (device.graphBytes > 0)
    add("captured graphs", runtime.graphs, formatBytes(device.graphBytes));
  if (device.reservedBytes > device.activationBytes)
    assumptions.push_back({"kept for temporaries",
                           formatBytes(device.reservedBytes),
                           sourceOfReserve(step)});
  add("KV cache block", runtime.kvBlockTokens,
      formatNumber(runtime.kvBlockTokens.value) + " tokens");
  if (runtime.hostTimeUs.value > 0)
    add("host time of a step", runtime.hostTimeUs,
        formatTime(runtime.hostTimeUs.value));
  if (runtime.hostTimePerLayerUs.value > 0)
    add("host time of a layer", runtime.hostTimePerLayerUs,
        formatTime(runtime.hostTimePerLayerUs.value));
  if (runtime.hostTimePerSequenceUs.value > 0)
    add("host time of a sequence", runtime.hostTimePerSequenceUs,
        formatTime(runtime.hostTimePerSequenceUs.value));
  if (runtime.kernelFloorUs.value > 0)
    add("minimum time of a kernel", runtime.kernelFloorUs,
        formatTime(runtime.kernelFloorUs.value));
}

static bool readsRoutedExperts(const CostProgram &program) {
  for (const Kernel &kernel : program.kernels)
    for (const Traffic &traffic : kernel.traffic)
      if (traffic.topK != 0)
        return true;
  return false;
}

/// Adds the assumption about how many experts a batch reaches.
static void addRouting(const EvaluatedStep &step, Assumptions &assumptions) {
  const Figure &skew = step.runtime.routingSkew;
  if (skew.value == 0)
    assumptions.push_back(
        {"expert routing", "uniform and independent", method});
  else
    assumptions.push_back({"expert routing",
                           "independent, Zipf distribution with exponent " +
                               formatNumber(skew.value),
                           skew.source.str()});
}

/// Adds assumptions about parts of the model for which the workload leaves no
/// work.
static void addEmptyInputs(const EvaluatedStep &step,
                           Assumptions &assumptions) {
  const std::vector<std::string> &symbols = step.program.symbols;
  auto isEmpty = [&](const char *symbol, int64_t length) {
    return length == 0 &&
           std::find(symbols.begin(), symbols.end(), symbol) != symbols.end();
  };
  if (isEmpty("encoder_tokens", step.workload.encoderTokens))
    assumptions.push_back(
        {"images or other encoder input",
         "not part of the step: nothing is encoded",
         "workload: encoder_tokens = 0; set with --encoder-tokens"});
  if (isEmpty("cross_tokens", step.workload.crossTokens))
    assumptions.push_back(
        {"encoded positions in the cache", "none: cross attention sees nothing",
         "workload: cross_tokens = 0; set with --cross-tokens"});
}

/// Adds the assumption that recurrences, which were not measured, run on vector
/// units at the chip's fp32 peak.
static void addRecurrence(const EvaluatedStep &step, Assumptions &assumptions) {
  if (step.report.flops.recurrence == Checked(0))
    return;
  assumptions.push_back({"FLOPs of recurrences",
                         "by convention those of the recurrence itself, also "
                         "where a chunked kernel computes more",
                         method});
  const Chip &chip = step.pool().chip;
  if (chip.kernels.count(KernelKind::scan) && !step.runtime.ideal) {
    assumptions.push_back({"scans",
                           "state spaces and linear attention are priced at "
                           "the rates of gated delta rules: chips." +
                               chip.name + ".kernels.scan",
                           method});
    return;
  }
  const Figure *peak = chip.peak(ElementType::f32);
  assumptions.push_back(
      {"scans",
       peak ? "priced by their traffic, as elementwise kernels, and by their "
              "FLOPs at " +
                  peak->path
            : "priced by their traffic alone, as elementwise kernels: " +
                  chip.name + " has no peak of fp32",
       method});
}

/// Returns whether each residual stream has only one coefficient before and one
/// after a block. A block with more coefficients mixes the streams around it.
static bool isIndependent(const Kernel &kernel) {
  return kernel.columns.front().extent.factor ==
         2 * kernel.contraction.front().extent.factor;
}

/// Adds the assumption that the measured kernels include the iterations of
/// Sinkhorn.
static void addHyperConnections(const EvaluatedStep &step,
                                Assumptions &assumptions) {
  bool has = false, hasOthers = false;
  for (const Kernel &kernel : step.program.kernels)
    if (kernel.kind == KernelKind::hyper_pre) {
      has = true;
      hasOthers |= isIndependent(kernel);
    }
  const Chip &chip = step.pool().chip;
  bool isMeasured = chip.kernels.count(KernelKind::hyper_pre) != 0;
  if (!has || step.runtime.ideal || (isMeasured && !hasOthers))
    return;
  assumptions.push_back(
      {"hyper-connections",
       isMeasured ? "independent ones are priced as manifold-constrained ones, "
                    "the only ones measured: chips." +
                        chip.name + ".kernels.hyper_pre"
                  : "priced as elementwise kernels",
       method});
}

/// Adds the assumptions about how communication overlaps with kernels, and
/// about how causal pairs are split.
static void addOverlap(const EvaluatedStep &step, Assumptions &assumptions) {
  const auto &all = step.calls;
  if (all.empty())
    return;
  bool hasRing = std::any_of(all.begin(), all.end(), [](const auto &cost) {
    return cost.record->kind == CollectiveKind::ring;
  });
  if (hasRing)
    assumptions.push_back(
        {"overlap",
         "each step of a ring overlaps with attention on the previous block; "
         "no other collective overlaps with a kernel",
         "Ring Attention, arXiv:2310.01889, section 3"});
  else
    assumptions.push_back(
        {"overlap", "no collective overlaps with a kernel", method});
}

/// Adds a note about the imbalance of contiguous parts of a sequence: the last
/// of n parts has 2 - 1/n times the mean number of causal pairs.
static void addBalance(const EvaluatedStep &step, Assumptions &assumptions) {
  for (const Kernel &kernel : step.program.kernels) {
    if (!kernel.pairs || !kernel.pairs->causal ||
        kernel.pairs->query.axes.empty())
      continue;
    int64_t devices = step.plan.sizeOf(Degree::cp).value_or(1);
    if (devices == 1)
      return;
    double most = 2 - 1 / static_cast<double>(devices);
    assumptions.push_back(
        {"context parallelism",
         "causal pairs are shared evenly: each device has one block from "
         "either end of a sequence; with contiguous blocks all would wait for "
         "the last device, which would have " +
             formatNumber(std::round(most * 100) / 100) + " times as many",
         "Llama 3, arXiv:2407.21783, section 3.3.2"});
    return;
  }
}

static void addMethod(const EvaluatedStep &step, Assumptions &assumptions) {
  const Runtime &runtime = step.runtime;
  assumptions.push_back({"FLOPs",
                         "matrix products only; a multiply-add counts 2; "
                         "causal pairs are counted exactly",
                         method});
  assumptions.push_back(
      {"logits", "for the last token of each sequence only", method});
  addRecurrence(step, assumptions);
  addHyperConnections(step, assumptions);
  if (readsRoutedExperts(step.program))
    addRouting(step, assumptions);
  addLoadAssumptions(step, assumptions);
  for (const Kernel &kernel : step.program.kernels)
    if (!step.strategy.launching.launches(kernel)) {
      assumptions.push_back({"dispatch, activation and combine of experts",
                             "inside the grouped products, whose curves were "
                             "measured with them",
                             method});
      break;
    }
  addOverlap(step, assumptions);
  addBalance(step, assumptions);
  std::string merged = runtime.mergesSharedInput && runtime.fusesElementwise
                           ? "products of one input, elementwise runs"
                       : runtime.mergesSharedInput ? "products of one input"
                       : runtime.fusesElementwise  ? "elementwise runs"
                                                   : "none";
  assumptions.push_back(
      {"kernels launched as one", merged, "runtime: " + runtime.name});
  if (runtime.ideal)
    assumptions.push_back({"kernel times", "peak rates without floors",
                           "runtime: " + runtime.name});
}

/// Adds those choices of the plan that are defaults of the training framework.
static void addDefaults(const EvaluatedStep &step, Assumptions &assumptions) {
  const std::optional<TrainingFigures> &trainer = step.runtime.training;
  if (!step.program.trains() || !trainer)
    return;
  const Plan &plan = step.plan;
  if (trainer->loss && plan.training.loss == trainer->loss)
    assumptions.push_back({"loss",
                           std::string(nameOf(*trainer->loss)) + ", as in " +
                               step.runtime.name + "; --loss chooses another",
                           trainer->lossSource.str()});
  bool isWhole = plan.training.zero == 1 &&
                 plan.sizeOf(Degree::pp).value_or(1) > 1 &&
                 trainer->keepsWholeInStages.value != 0;
  if (isWhole)
    assumptions.push_back(
        {"weights and gradients",
         "kept whole during an iteration, as " + step.runtime.name +
             " does in pipelines even where --fsdp splits them: --zero=1",
         trainer->keepsWholeInStages.source.str()});
  Degrees degrees = degreesOf(plan);
  bool isSplit = degrees.ep && degrees.etp && degrees.etp == degrees.tp &&
                 *degrees.etp > 1;
  if (isSplit && trainer->splitsExpertsByTp.value != 0)
    assumptions.push_back({"experts",
                           "etp = tp = " + std::to_string(*degrees.etp) +
                               ", as in " + step.runtime.name +
                               "; --shard-etp=1 leaves experts whole",
                           trainer->splitsExpertsByTp.source.str()});
}

Assumptions autopar::explanation::assumptionsOf(const EvaluatedStep &step) {
  Assumptions assumptions;
  addRuntime(step, assumptions);
  addEmptyInputs(step, assumptions);
  addMethod(step, assumptions);
  addDefaults(step, assumptions);
  for (const Figure *figure : figuresOf(step).figures)
    if (figure->source.kind == "user")
      assumptions.push_back(
          {figure->path, formatNumber(figure->value), figure->source.str()});
  return assumptions;
}

Assumptions
autopar::explanation::assumptionsOf(const EvaluatedPipeline &pipeline) {
  Assumptions assumptions = assumptionsOf(*pipeline.whole);
  if (pipeline.assumesBackwards())
    assumptions.push_back(
        {"schedule.backward",
         std::to_string(cost::trainingPasses - 1) +
             " times the forward, half for each gradient",
         "recalled: products of the same sizes, arXiv:2104.04473"});
  return assumptions;
}
