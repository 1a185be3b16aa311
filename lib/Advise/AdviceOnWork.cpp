//===- AdviceOnWork.cpp ---------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Advice.h"

#include "autopar/Support/Text.h"

#include <algorithm>

using namespace autopar;
using namespace autopar::advice;
using namespace autopar::cost;
using namespace autopar::evaluation;
using namespace autopar::plan;
using namespace autopar::program;
using namespace autopar::report;
using namespace autopar::schedule;

using Subject = Warning::Subject;

void autopar::advice::adviseOnIdleAxes(const EvaluatedStep &step,
                                       Warnings &warnings) {
  const std::vector<std::string> &used = step.program.axes;
  for (const PlanAxis &axis : step.plan.axes)
    if (*axis.size > 1 &&
        (axis.name != "pp" || step.plan.pipeline.stages.empty()) &&
        std::find(used.begin(), used.end(), axis.name) == used.end())
      warnings.push_back(
          {"axis '" + axis.name + "' splits nothing: its " +
               countOf(*axis.size, "device") + " repeat the same work" +
               (axis.name == "pp" ? "; --stage-pp splits the layers over it"
                                  : ""),
           "idle-axis", Subject::mesh});
}

//===----------------------------------------------------------------------===//
// Devices without work
//===----------------------------------------------------------------------===//

namespace {

/// A symbol, such as the batch, that is split over more devices than its size.
struct ThinSplit {
  SymbolId symbol;
  std::vector<AxisId> axes;
  int64_t extent, devices;
};

/// Collects thin splits, each of them once.
class ThinSplits {
public:
  explicit ThinSplits(const EvaluatedStep &step) : step(step) {
    for (const Activation &activation : step.program.activations)
      if (isLive(activation))
        for (const Dim &dim : activation.shape)
          add(dim);
    for (const Resident &resident : step.program.residents)
      for (const Dim &dim : resident.shape)
        add(dim);
  }

  const std::vector<ThinSplit> &get() const { return splits; }

private:
  /// Returns whether a buffer is live while the device runs any launch.
  bool isLive(const Activation &activation) const {
    const KindCounts &counts = step.layout.part.kinds;
    for (size_t i = 0; i < counts.size(); ++i) {
      const LayerKind &kind = step.program.layers[i];
      if (counts[i] > 0 && activation.begin <= kind.end &&
          kind.begin <= activation.end)
        return true;
    }
    return counts.empty();
  }
  void add(const Dim &dim) {
    const Extent &extent = dim.extent;
    if (dim.axes.empty() || extent.symbols.size() != 1 || extent.factor != 1)
      return;
    Checked count = step.logical(extent);
    Checked devices = step.groupSize(dim.axes);
    SymbolId symbol = extent.symbols.front();
    bool known =
        std::any_of(splits.begin(), splits.end(), [&](const ThinSplit &split) {
          return split.symbol == symbol && split.axes == dim.axes;
        });
    if (known || count == 0 || count >= devices || !devices.int64())
      return;
    splits.push_back({symbol, dim.axes, *count.int64(), *devices.int64()});
  }

  const EvaluatedStep &step;
  std::vector<ThinSplit> splits;
};

} // namespace

/// Returns a change that gives work to all devices of `split`. `isOfTp` says
/// that the axes of the split are part of tp.
static std::string remedyText(const EvaluatedStep &step, const ThinSplit &split,
                              bool isOfTp) {
  const std::string &symbol = step.program.symbols[split.symbol];
  std::string least = std::to_string(split.devices);
  if (symbol == "batch") {
    int64_t parts = step.plan.pipeline.microbatches.value_or(1);
    return "--batch=" + std::to_string(split.devices * parts) +
           (parts > 1 ? " or fewer --microbatches" : "") + " would use all";
  }
  if (symbol != "query")
    return "a " + symbol + " of " + least + " would use all";
  if (step.workload.phase == Phase::decode)
    return isOfTp ? "leave out --shard-sp in decode"
                  : "in decode split the cache instead, with --shard-dcp=N of "
                    "tp, or the sequences, with --shard-dp=" +
                        least;
  return (isOfTp ? "sequence" : "context") +
         std::string(" parallelism needs --prompt=") + least;
}

static std::string extentText(const std::string &symbol, int64_t extent,
                              bool isPerMicrobatch) {
  if (symbol == "batch")
    return countOf(extent, "sequence") + " per " +
           (isPerMicrobatch ? "microbatch" : "step");
  if (symbol == "query")
    return countOf(extent, "new token") + " per sequence";
  return symbol + " " + formatInteger(extent);
}

void autopar::advice::adviseOnIdleDevices(const EvaluatedStep &step,
                                          Warnings &warnings) {
  ThinSplits splits(step);
  for (const ThinSplit &split : splits.get()) {
    bool isOfTp =
        std::any_of(split.axes.begin(), split.axes.end(), [&](AxisId axis) {
          return isAxisOf(step, axis, Degree::tp);
        });
    std::string symbol = step.program.symbols[split.symbol];
    warnings.push_back(
        {degreeText(step, split.axes) + " leaves " +
             formatInteger(split.devices - split.extent) + " of " +
             formatInteger(split.devices) + " devices idle, with " +
             extentText(symbol, split.extent, step.layout.microbatches > 1) +
             "; " + remedyText(step, split, isOfTp),
         "idle-devices", Subject::mesh});
  }
}

//===----------------------------------------------------------------------===//
// Routed tokens that several devices hold
//===----------------------------------------------------------------------===//

namespace {

/// Matmuls of experts that several devices compute on the same tokens.
struct RepeatedExperts {
  const Kernel *first = nullptr;
  /// The number of devices along axes that split neither tokens nor experts.
  int64_t devices = 1;
  double timeUs = 0;
};

} // namespace

/// Returns the number of devices that do the same work for `kernel`.
static int64_t countRepeats(const EvaluatedStep &step, const Kernel &kernel) {
  std::vector<bool> splits(step.program.axes.size());
  auto mark = [&](const Dims &dims) {
    for (const Dim &dim : dims)
      for (AxisId axis : dim.axes)
        splits[axis] = true;
  };
  for (const Dims *dims : {&kernel.rows, &kernel.columns, &kernel.contraction})
    mark(*dims);
  for (const Traffic &traffic : kernel.traffic)
    mark(traffic.shape);
  int64_t devices = 1;
  for (size_t axis = 0; axis < splits.size(); ++axis)
    if (!splits[axis])
      devices *= step.axisSize(static_cast<AxisId>(axis));
  return devices;
}

static RepeatedExperts findRepeatedExperts(const EvaluatedStep &step) {
  RepeatedExperts found;
  for (size_t i = 0; i < step.program.kernels.size(); ++i) {
    const Kernel &kernel = step.program.kernels[i];
    if (kernel.kind != KernelKind::grouped_matmul)
      continue;
    int64_t devices = countRepeats(step, kernel);
    if (devices == 1 || (found.first && devices != found.devices))
      continue;
    if (!found.first)
      found = {&kernel, devices};
    found.timeUs +=
        step.kernelTimeUs[i] * step.countOf(static_cast<uint32_t>(i)).real();
  }
  return found;
}

/// Returns the flag that divides the repeated work; "" if there is none.
static std::string remedyText(const EvaluatedStep &step,
                              const RepeatedExperts &repeated) {
  const Plan &plan = step.plan;
  if (step.workload.phase == Phase::prefill && !plan.sequenceParallel &&
      plan.has(Degree::tp))
    return "; --shard-sp gives each its own tokens";
  int64_t etp = plan.sizeOf(Degree::etp).value_or(1) * repeated.devices;
  Checked width = step.logicalOf(repeated.first->columns);
  if (width != ceilDiv(width, etp) * etp)
    return "";
  return "; --shard-etp=" + std::to_string(etp) +
         " splits the widths of experts over them";
}

void autopar::advice::adviseOnRepeatedExperts(const EvaluatedStep &step,
                                              Warnings &warnings) {
  RepeatedExperts repeated = findRepeatedExperts(step);
  if (!repeated.first)
    return;
  std::string times = formatInteger(repeated.devices);
  warnings.push_back(
      {"each routed token is computed " + times + " times: beside ep = " +
           formatInteger(step.plan.sizeOf(Degree::ep).value_or(1)) + ", " +
           times +
           " devices have the same tokens and experts; products of experts "
           "take " +
           shareText(step, repeated.timeUs) + remedyText(step, repeated),
       "repeated-experts", Subject::mesh});
}
