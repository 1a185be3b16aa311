//===- ModelFacts.cpp -----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Evaluate/ModelFacts.h"

#include "ModelParts.h"
#include "autopar/Evaluate/EvaluatedStep.h"

#include <algorithm>
#include <array>

using namespace autopar;
using namespace autopar::cost;
using namespace autopar::evaluation;
using namespace autopar::hardware;
using namespace autopar::placement;
using namespace autopar::plan;
using namespace autopar::program;
using namespace autopar::report;
using namespace autopar::runtime;
using namespace autopar::schedule;

using Kind = Resident::Kind;

namespace {

/// Counts numbers of one program of the model, on one device without a machine.
class ModelCounts {
public:
  explicit ModelCounts(const CostProgram &program)
      : program(program), strategy(compile(program, {})) {
    machine.pools.emplace_back();
  }

  const CostProgram &program;
  const Strategy strategy;

  /// Evaluates a step of one sequence.
  Result<ExactValues> at(Phase phase, int64_t context) const {
    Workload workload{phase, 1, phase == Phase::decode ? 1 : context, context};
    PlanInputs inputs{program, plan, machine, runtime, workload};
    ExactValues values(strategy, machine, runtime);
    Layout layout;
    layout.axes.resize(program.axes.size());
    Refusal refusal = values.evaluate(layout, workload);
    // Without a machine, requirements on peaks fail; only a missing size is an
    // error.
    bool isOpen =
        refusal.kind == Refusal::Kind::requirement &&
        strategy.requirements[refusal.index].kind == Requirement::Kind::sizes;
    if (isOpen)
      return explainRefusal(inputs, strategy, values, refusal);
    return values;
  }

private:
  Machine machine;
  Runtime runtime;
  Plan plan;
};

/// Fills in a report on a model, one group of numbers after the other.
class ModelCounter {
public:
  explicit ModelCounter(const ModelPrograms &programs)
      : prefill(programs.prefill), decode(programs.decode) {
    for (const auto &[format, program] : programs.byKvFormat) {
      report.kvFormats.push_back(format);
      byKvFormat.emplace_back(program);
    }
  }

  Result<ModelReport> run(const std::vector<int64_t> &cacheContexts,
                          const std::vector<int64_t> &flopContexts);

private:
  void addLayers();
  void addWeights();
  void addCaches();
  void addSource();
  void addCacheSize(int64_t context);
  void addFlops(int64_t context);
  ModelReport::Flops countStep(const ModelCounts &counts, Phase phase,
                               int64_t context);
  /// Returns the exact value of `node`; 0 after an error.
  Checked value(const ModelCounts &counts, Phase phase, int64_t context,
                NodeId node);
  Checked value(const Result<ExactValues> &values, NodeId node);

  ModelCounts prefill, decode;
  std::vector<ModelCounts> byKvFormat;
  ModelReport report;
  std::optional<Error> error;
};

} // namespace

Checked ModelCounter::value(const Result<ExactValues> &values, NodeId node) {
  if (!values) {
    if (!error)
      error = values.error();
    return 0;
  }
  Checked result = node == noNode ? Checked(0) : values->whole(node);
  if (!result.valid() && !error)
    error = Error{"",
                  "a number of '" + prefill.program.model +
                      "' does not fit in 127 bits",
                  ""};
  return result;
}

Checked ModelCounter::value(const ModelCounts &counts, Phase phase,
                            int64_t context, NodeId node) {
  return value(counts.at(phase, context), node);
}

void ModelCounter::addLayers() {
  const CostProgram &program = byKvFormat.front().program;
  for (uint32_t i = 0; i < program.layers.size(); ++i)
    if (!program.isModel(i))
      report.layers.push_back(
          {program.layers[i].name, program.layers[i].count});
}

void ModelCounter::addWeights() {
  Result<ExactValues> values = prefill.at(Phase::prefill, 1);
  const TotalNodes &total = prefill.strategy.total;
  report.checkpointBytes = value(values, total.checkpointBytes);
  report.parameters = value(values, total.parameters);
  report.activeParameters = value(values, total.activeParameters);
  report.storedOnlyParameters = value(values, total.storedOnlyParameters);
  ModelParts parts(prefill.program);
  std::array<ModelReport::Part, modelPartCount> counts;
  for (size_t i = 0; i < prefill.program.residents.size(); ++i) {
    const Resident &weight = prefill.program.residents[i];
    const ResidentNodes &nodes = prefill.strategy.residents[i];
    if (weight.kind != Kind::weight)
      continue;
    ModelReport::Part &part = counts[static_cast<size_t>(parts.of(weight))];
    part.parameters += value(values, nodes.parameters) * weight.count;
    if (!weight.stored)
      part.active += value(values, nodes.activeParameters) * weight.count;
    part.bytes += value(values, nodes.storedBytes) * weight.count;
  }
  for (size_t i = 0; i < counts.size(); ++i)
    if (!counts[i].bytes.isZero()) {
      counts[i].name = nameOf(static_cast<ModelPart>(i));
      report.parts.push_back(counts[i]);
    }
}

void ModelCounter::addCaches() {
  const ModelCounts &first = byKvFormat.front();
  std::vector<Result<ExactValues>> values;
  for (const ModelCounts &counts : byKvFormat)
    values.push_back(counts.at(Phase::prefill, 1));
  for (size_t i = 0; i < first.program.residents.size(); ++i) {
    const Resident &cache = first.program.residents[i];
    if (first.strategy.residents[i].perToken == noNode)
      continue;
    ModelReport::Cache row;
    row.layer = first.program.layers[cache.layer].name;
    row.layers = cache.count;
    if (cache.user) {
      const Kernel &reader = first.program.kernels[*cache.user];
      row.op = reader.op;
      row.window = reader.pairs ? reader.pairs->window
                                : cache.shape[cache.pagedDim].extent.limit;
      row.chunk = reader.pairs ? reader.pairs->chunk : 0;
    }
    for (size_t format = 0; format < byKvFormat.size(); ++format) {
      NodeId node = byKvFormat[format].strategy.residents[i].perToken;
      row.bytesPerToken.push_back(value(values[format], node) * cache.count);
    }
    report.caches.push_back(std::move(row));
  }
}

void ModelCounter::addSource() {
  const ModelCounts &first = byKvFormat.front();
  const std::vector<std::string> &symbols = first.program.symbols;
  report.hasSource = std::find(symbols.begin(), symbols.end(),
                               "encoder_tokens") != symbols.end();
  Result<ExactValues> values = first.at(Phase::prefill, 1);
  for (size_t i = 0; i < first.program.residents.size(); ++i)
    report.memoryBytesPerToken +=
        value(values, first.strategy.residents[i].perEncodedToken) *
        first.program.residents[i].count;
}

void ModelCounter::addCacheSize(int64_t context) {
  ModelReport::CacheSize size{context, {}};
  for (const ModelCounts &counts : byKvFormat)
    size.bytes.push_back(value(counts, Phase::prefill, context,
                               counts.strategy.total.kvBytesPerSequence));
  report.cacheSizes.push_back(std::move(size));
}

ModelReport::Flops ModelCounter::countStep(const ModelCounts &counts,
                                           Phase phase, int64_t context) {
  Result<ExactValues> values = counts.at(phase, context);
  const TotalNodes &total = counts.strategy.total;
  value(values, total.flops);
  return {value(values, total.linearFlops), value(values, total.attentionFlops),
          value(values, total.recurrenceFlops),
          value(values, total.logitsFlops)};
}

void ModelCounter::addFlops(int64_t context) {
  ModelReport::FlopsAt &row = report.flops.emplace_back();
  row.context = context;
  row.prefill = countStep(prefill, Phase::prefill, context);
  const std::vector<Resident> &kept = byKvFormat.front().program.residents;
  bool keepsAnything =
      std::any_of(kept.begin(), kept.end(), [](const Resident &resident) {
        return resident.kind != Kind::weight;
      });
  if (keepsAnything)
    row.decode = countStep(decode, Phase::decode, context);
}

Result<ModelReport>
ModelCounter::run(const std::vector<int64_t> &cacheContexts,
                  const std::vector<int64_t> &flopContexts) {
  const ModelCounts &first = byKvFormat.front();
  report.name = first.program.model;
  addLayers();
  addWeights();
  addCaches();
  addSource();
  for (int64_t context : cacheContexts)
    addCacheSize(context);
  report.stateBytesPerSequence = value(
      first, Phase::decode, 1, first.strategy.total.stateBytesPerSequence);
  for (int64_t context : flopContexts)
    addFlops(context);
  if (error)
    return *error;
  return std::move(report);
}

Result<ModelReport>
autopar::evaluation::countModel(const ModelPrograms &programs,
                                const std::vector<int64_t> &cacheContexts,
                                const std::vector<int64_t> &flopContexts) {
  return ModelCounter(programs).run(cacheContexts, flopContexts);
}
