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

using Subject = Warning::Subject;

void autopar::adviseOnIdleAxes(Evaluation &evaluation) {
  const std::vector<std::string> &used = evaluation.program.axes;
  for (const PlanAxis &axis : evaluation.plan.axes)
    if (*axis.size > 1 &&
        (axis.name != "pp" || evaluation.plan.pipeline.stages.empty()) &&
        std::find(used.begin(), used.end(), axis.name) == used.end())
      evaluation.report.warnings.push_back(
          {"axis '" + axis.name + "' of " + formatInteger(*axis.size) +
               " devices splits nothing: they repeat the same work" +
               (axis.name == "pp" ? "; --stage-pp lays layers over it" : ""),
           "idle-axis", Subject::mesh});
}

//===----------------------------------------------------------------------===//
// Devices without work
//===----------------------------------------------------------------------===//

namespace {

/// A symbol, split over more devices than it counts.
struct ThinSplit {
  SymbolId symbol;
  std::vector<AxisId> axes;
  int64_t extent, devices;
};

/// Collects them, each once.
class ThinSplits {
public:
  explicit ThinSplits(const Evaluation &evaluation) : evaluation(evaluation) {
    for (const Activation &activation : evaluation.program.activations)
      for (const Dim &dim : activation.shape)
        add(dim);
    for (const Resident &resident : evaluation.program.residents)
      for (const Dim &dim : resident.shape)
        add(dim);
  }

  const std::vector<ThinSplit> &get() const { return splits; }

private:
  void add(const Dim &dim) {
    const Extent &extent = dim.extent;
    if (dim.axes.empty() || extent.symbols.size() != 1 || extent.factor != 1)
      return;
    Checked count = evaluation.sizes.logical(extent);
    Checked devices = evaluation.sizes.groupSize(dim.axes);
    SymbolId symbol = extent.symbols.front();
    bool known =
        std::any_of(splits.begin(), splits.end(), [&](const ThinSplit &split) {
          return split.symbol == symbol && split.axes == dim.axes;
        });
    if (known || count == 0 || count >= devices || !devices.int64())
      return;
    splits.push_back({symbol, dim.axes, *count.int64(), *devices.int64()});
  }

  const Evaluation &evaluation;
  std::vector<ThinSplit> splits;
};

} // namespace

/// What gives all devices of `split` work; `isOfTp`: its axes are some of tp.
static std::string remedyText(const Evaluation &evaluation,
                              const ThinSplit &split, bool isOfTp) {
  const std::string &symbol = evaluation.program.symbols[split.symbol];
  std::string least = std::to_string(split.devices);
  if (symbol == "batch") {
    int64_t parts = evaluation.plan.pipeline.microbatches.value_or(1);
    return "--batch=" + std::to_string(split.devices * parts) +
           (parts > 1 ? " or fewer --microbatches" : "") + " gives each one";
  }
  if (symbol != "query")
    return "a " + symbol + " of " + least + " gives each one";
  if (evaluation.workload.phase == Phase::decode)
    return isOfTp ? "leave out --shard-sp in decode"
                  : "in decode split the cache instead, with --shard-dcp=N of "
                    "tp, or the sequences, with --shard-dp=" +
                        least;
  return (isOfTp ? "sequence" : "context") +
         std::string(" parallelism needs --prompt=") + least;
}

static std::string whatOf(const std::string &symbol) {
  if (symbol == "batch")
    return "sequence";
  return symbol == "query" ? "new token" : "token of " + symbol;
}

void autopar::adviseOnIdleDevices(Evaluation &evaluation) {
  ThinSplits splits(evaluation);
  for (const ThinSplit &split : splits.get()) {
    bool isOfTp =
        std::any_of(split.axes.begin(), split.axes.end(), [&](AxisId axis) {
          return isAxisOf(evaluation, axis, "tp");
        });
    std::string symbol = evaluation.program.symbols[split.symbol];
    std::string what = whatOf(symbol);
    evaluation.report.warnings.push_back(
        {formatInteger(split.devices - split.extent) + " of the " +
             formatInteger(split.devices) + " devices along " +
             degreeText(evaluation, split.axes) + " have no " + what + ": " +
             symbol + " is " + formatInteger(split.extent) +
             (symbol == "batch" && evaluation.microbatches > 1
                  ? " in each microbatch"
                  : "") +
             "; " + remedyText(evaluation, split, isOfTp),
         "idle-devices", Subject::mesh});
  }
}

//===----------------------------------------------------------------------===//
// Routed tokens that several devices have
//===----------------------------------------------------------------------===//

namespace {

/// Products of experts that several devices make of the same tokens.
struct RepeatedExperts {
  const Kernel *first = nullptr;
  /// Axes of the mesh that split neither tokens nor experts.
  int64_t devices = 1;
  double timeUs = 0;
};

} // namespace

/// Devices that do the same as one of them does for `kernel`.
static int64_t countRepeats(const Evaluation &evaluation,
                            const Kernel &kernel) {
  std::vector<bool> splits(evaluation.program.axes.size());
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
      devices *= evaluation.sizes.axisSize(static_cast<AxisId>(axis));
  return devices;
}

static RepeatedExperts findRepeatedExperts(const Evaluation &evaluation) {
  RepeatedExperts found;
  for (size_t i = 0; i < evaluation.program.kernels.size(); ++i) {
    const Kernel &kernel = evaluation.program.kernels[i];
    if (kernel.kind != KernelKind::grouped_matmul)
      continue;
    int64_t devices = countRepeats(evaluation, kernel);
    if (devices == 1 || (found.first && devices != found.devices))
      continue;
    if (!found.first)
      found = {&kernel, devices};
    found.timeUs +=
        evaluation.kernels[i].timeUs * static_cast<double>(kernel.count);
  }
  return found;
}

/// The flag that leaves no two devices the same work, where there is one.
static std::string remedyText(const Evaluation &evaluation,
                              const RepeatedExperts &repeated) {
  const Plan &plan = evaluation.plan;
  if (evaluation.workload.phase == Phase::prefill && !plan.sequenceParallel &&
      plan.has("tp"))
    return "; --shard-sp gives each its own tokens";
  int64_t etp = plan.sizeOf("etp").value_or(1) * repeated.devices;
  Checked width = evaluation.sizes.logical(repeated.first->columns);
  if (width != ceilDiv(width, etp) * etp)
    return "";
  return "; --shard-etp=" + std::to_string(etp) +
         " gives each a part of the experts' widths";
}

void autopar::adviseOnRepeatedExperts(Evaluation &evaluation) {
  RepeatedExperts repeated = findRepeatedExperts(evaluation);
  if (!repeated.first)
    return;
  std::string times = formatInteger(repeated.devices);
  evaluation.report.warnings.push_back(
      {"each routed token is computed " + times + " times: " + times +
           " devices have the same tokens and the same experts, beside ep = " +
           formatInteger(evaluation.plan.sizeOf("ep").value_or(1)) +
           "; the products of experts take " +
           shareText(evaluation, repeated.timeUs) +
           remedyText(evaluation, repeated),
       "repeated-experts", Subject::mesh});
}
