//===- ModelFacts.cpp ----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Cost/ModelFacts.h"

#include "ModelParts.h"
#include "autopar/Cost/Counts.h"

#include <algorithm>
#include <array>

using namespace autopar;

using Kind = Resident::Kind;

namespace {

/// Fills a report, one group of figures at a time.
class ModelCounter {
public:
  explicit ModelCounter(const ModelPrograms &programs)
      : programs(programs), program(programs.byKvFormat.front().second) {}

  Result<ModelReport> run(const std::vector<int64_t> &cacheContexts,
                          const std::vector<int64_t> &flopContexts);

private:
  Sizes sizesOf(const CostProgram &program, Phase phase, int64_t context);
  void addLayers();
  void addWeights();
  void addCaches();
  void addSource();
  void addCacheSize(int64_t context);
  void addFlops(int64_t context);
  ModelReport::Flops countStep(const CostProgram &program, Phase phase,
                               int64_t context);
  bool keepsAnything() const;
  /// `value`, which the report has; an error where it is too large.
  Checked exact(Checked value);

  const ModelPrograms &programs;
  const CostProgram &program;
  ModelReport report;
  std::optional<Error> error;
};

} // namespace

Sizes ModelCounter::sizesOf(const CostProgram &program, Phase phase,
                            int64_t context) {
  Workload workload{phase, 1, phase == Phase::decode ? 1 : context, context};
  Sizes sizes(program, Plan(), workload);
  if (sizes.failed() && !error)
    error = sizes.takeError();
  return sizes;
}

Checked ModelCounter::exact(Checked value) {
  if (!value.valid() && !error)
    error = Error{
        "", "a number of '" + program.model + "' does not fit in 127 bits", ""};
  return value;
}

void ModelCounter::addLayers() {
  for (uint32_t i = 0; i < program.layers.size(); ++i)
    if (!program.isModel(i))
      report.layers.push_back(
          {program.layers[i].name, program.layers[i].count});
}

void ModelCounter::addWeights() {
  Sizes sizes = sizesOf(programs.prefill, Phase::prefill, 1);
  ModelParts parts(programs.prefill);
  std::array<ModelReport::Part, modelPartCount> counts;
  for (const Resident &weight : programs.prefill.residents) {
    if (weight.kind != Kind::weight)
      continue;
    WeightCounts count = countWeight(weight, sizes);
    report.checkpointBytes += count.bytes;
    (weight.stored ? report.storedOnlyParameters : report.parameters) +=
        count.parameters;
    if (weight.stored)
      count.active = 0;
    report.activeParameters += count.active;
    ModelReport::Part &part = counts[static_cast<size_t>(parts.of(weight))];
    part.parameters += count.parameters;
    part.active += count.active;
    part.bytes += count.bytes;
  }
  exact(report.checkpointBytes + report.parameters +
        report.storedOnlyParameters);
  for (size_t i = 0; i < counts.size(); ++i)
    if (!counts[i].bytes.isZero()) {
      counts[i].name = nameOf(static_cast<ModelPart>(i));
      report.parts.push_back(counts[i]);
    }
}

void ModelCounter::addCaches() {
  for (size_t i = 0; i < program.residents.size(); ++i) {
    const Resident &cache = program.residents[i];
    if (!shapeOfToken(cache, program, "context"))
      continue;
    ModelReport::Cache row;
    row.layer = program.layers[cache.layer].name;
    row.layers = cache.count;
    if (cache.user) {
      const Kernel &reader = program.kernels[*cache.user];
      row.op = reader.op;
      row.window = reader.pairs ? reader.pairs->window : 0;
      row.chunk = reader.pairs ? reader.pairs->chunk : 0;
    }
    for (const auto &[format, other] : programs.byKvFormat) {
      Sizes sizes = sizesOf(other, Phase::prefill, 1);
      const Resident &same = other.residents[i];
      Checked elements = sizes.logical(*shapeOfToken(same, other, "context"));
      row.bytesPerToken.push_back(
          exact(bytesOf(elements * same.count, same.type)));
    }
    report.caches.push_back(std::move(row));
  }
}

void ModelCounter::addSource() {
  report.hasSource = std::find(program.symbols.begin(), program.symbols.end(),
                               "source") != program.symbols.end();
  Sizes sizes = sizesOf(program, Phase::prefill, 1);
  for (const Resident &cache : program.residents)
    if (std::optional<Dims> token = shapeOfToken(cache, program, "memory"))
      report.memoryBytesPerToken +=
          exact(bytesOf(sizes.logical(*token) * cache.count, cache.type));
}

void ModelCounter::addCacheSize(int64_t context) {
  ModelReport::CacheSize size{context, {}};
  for (const auto &[format, other] : programs.byKvFormat)
    size.bytes.push_back(exact(countPerSequence(
        other, Kind::kv_cache, sizesOf(other, Phase::prefill, context))));
  report.cacheSizes.push_back(std::move(size));
}

ModelReport::Flops ModelCounter::countStep(const CostProgram &program,
                                           Phase phase, int64_t context) {
  Sizes sizes = sizesOf(program, phase, context);
  StepFlops flops;
  for (const Kernel &kernel : program.kernels)
    if (hasWork(kernel, sizes))
      flops.add(kernel, countFlops(kernel, sizes));
  exact(flops.total());
  return {flops.linear, flops.attention, flops.recurrence, flops.logits};
}

bool ModelCounter::keepsAnything() const {
  for (const Resident &resident : program.residents)
    if (resident.kind != Kind::weight)
      return true;
  return false;
}

void ModelCounter::addFlops(int64_t context) {
  ModelReport::FlopsAt &row = report.flops.emplace_back();
  row.context = context;
  row.prefill = countStep(programs.prefill, Phase::prefill, context);
  if (keepsAnything())
    row.decode = countStep(programs.decode, Phase::decode, context);
}

Result<ModelReport>
ModelCounter::run(const std::vector<int64_t> &cacheContexts,
                  const std::vector<int64_t> &flopContexts) {
  report.name = program.model;
  for (const auto &[format, other] : programs.byKvFormat)
    report.kvFormats.push_back(format);
  addLayers();
  addWeights();
  addCaches();
  addSource();
  for (int64_t context : cacheContexts)
    addCacheSize(context);
  report.stateBytesPerSequence = exact(countPerSequence(
      program, Kind::state, sizesOf(program, Phase::decode, 1)));
  for (int64_t context : flopContexts)
    addFlops(context);
  if (error)
    return *error;
  return std::move(report);
}

Result<ModelReport>
autopar::countModel(const ModelPrograms &programs,
                    const std::vector<int64_t> &cacheContexts,
                    const std::vector<int64_t> &flopContexts) {
  return ModelCounter(programs).run(cacheContexts, flopContexts);
}
