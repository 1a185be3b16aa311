//===- ExplainRecords.cpp -------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Explain.h"
#include "Launches.h"

#include "autopar/Support/Text.h"

#include <algorithm>
#include <cmath>

using namespace autopar;

//===----------------------------------------------------------------------===//
// Explanations
//===----------------------------------------------------------------------===//

std::string autopar::decimal(double value) {
  constexpr double largestExact = 9007199254740992; // 2^53
  if (value == std::floor(value) && std::fabs(value) <= largestExact)
    return std::to_string(static_cast<int64_t>(value));
  return formatNumber(value);
}

Explanation &Explanation::add(std::string name, std::string value,
                              std::string term) {
  std::string unique = name;
  auto taken = [&](const auto &input) { return input.first == unique; };
  auto &inputs = derivation.inputs;
  for (int i = 2; std::any_of(inputs.begin(), inputs.end(), taken); ++i)
    unique = name + "#" + std::to_string(i);
  if (!term.empty())
    derivation.terms.emplace_back(unique, std::move(term));
  inputs.emplace_back(std::move(unique), std::move(value));
  return *this;
}

Explanation &Explanation::input(std::string name, Checked value,
                                std::string term) {
  return add(std::move(name), value.str(), std::move(term));
}

Explanation &Explanation::input(std::string name, int64_t value,
                                std::string term) {
  return input(std::move(name), Checked(value), std::move(term));
}

Explanation &Explanation::input(std::string name, double value,
                                std::string term) {
  return add(std::move(name), decimal(value), std::move(term));
}

Explanation &Explanation::figure(const Figure &figure) {
  return from(figure.source.str()).input(figure.path, figure.value);
}

Explanation &Explanation::restsOn(const Figure &figure) {
  std::pair<std::string, std::string> term(figure.path, decimal(figure.value));
  auto &terms = derivation.terms;
  if (std::find(terms.begin(), terms.end(), term) == terms.end())
    terms.push_back(std::move(term));
  return from(figure.source.str());
}

Explanation &Explanation::restsOn(const KernelCurve &curve) {
  std::pair<std::string, std::string> term(
      curve.path, "compute efficiency " + decimal(curve.computeEfficiency) +
                      ", memory efficiency " + decimal(curve.memoryEfficiency) +
                      ", exponent " + decimal(curve.exponent) + ", floor " +
                      decimal(curve.floorUs) + " us");
  auto &terms = derivation.terms;
  if (std::find(terms.begin(), terms.end(), term) == terms.end())
    terms.push_back(std::move(term));
  return from(curve.source.str());
}

Explanation &Explanation::from(std::string source) {
  auto &sources = derivation.sources;
  if (std::find(sources.begin(), sources.end(), source) == sources.end())
    sources.push_back(std::move(source));
  return *this;
}

Explanation &Explanation::note(std::string text) {
  derivation.note = std::move(text);
  return *this;
}

//===----------------------------------------------------------------------===//
// Contributions
//===----------------------------------------------------------------------===//

CostProgram autopar::frameOf(const Evaluation &evaluation) {
  const CostProgram &program = evaluation.program;
  CostProgram frame;
  frame.model = program.model;
  frame.symbols = program.symbols;
  frame.axes = program.axes;
  frame.layers = program.layers;
  frame.placement = program.placement;
  return frame;
}

Report autopar::reportOf(const CostProgram &program,
                         const Evaluation &evaluation, const Workload &workload,
                         int64_t microbatches) {
  // A part of a program that was priced can be priced.
  Result<Report> report =
      evaluateDevice(program, evaluation.plan, evaluation.machine,
                     evaluation.runtime, workload, microbatches);
  return report ? std::move(*report) : Report();
}

static const std::string &layerOf(uint32_t layer,
                                  const Evaluation &evaluation) {
  return evaluation.program.layers[layer].name;
}

static std::string folderOf(Resident::Kind kind) {
  switch (kind) {
  case Resident::Kind::weight:
    return "weights/";
  case Resident::Kind::kv_cache:
    return "caches/";
  case Resident::Kind::state:
    return "states/";
  }
  return "";
}

static Contribution<Resident> contributionOf(const Resident &record,
                                             const Evaluation &evaluation,
                                             const Workload &workload,
                                             int64_t microbatches) {
  CostProgram program = frameOf(evaluation);
  program.residents = {record};
  std::string name = folderOf(record.kind) + layerOf(record.layer, evaluation) +
                     "/" + record.name;
  return {&record, std::move(name),
          reportOf(program, evaluation, workload, microbatches)};
}

std::vector<Contribution<Resident>>
autopar::keptOfOneSequence(const Evaluation &evaluation) {
  std::vector<Contribution<Resident>> kept;
  Workload single = evaluation.workload;
  single.batch = 1;
  for (const Resident &record : evaluation.program.residents)
    if (record.kind != Resident::Kind::weight)
      kept.push_back(contributionOf(record, evaluation, single, 1));
  return kept;
}

void Contributions::addResidents(const Evaluation &evaluation) {
  for (const Resident &record : evaluation.program.residents) {
    auto &list = record.kind == Resident::Kind::weight     ? weights
                 : record.kind == Resident::Kind::kv_cache ? caches
                                                           : states;
    list.push_back(contributionOf(record, evaluation, evaluation.workload,
                                  evaluation.microbatches));
  }
  CostProgram program = frameOf(evaluation);
  for (const Activation &record : evaluation.program.activations) {
    program.activations = {record};
    activations.push_back({&record, "activations/" + record.name,
                           reportOf(program, evaluation, evaluation.workload)});
  }
}

void Contributions::addKernels(const Evaluation &evaluation) {
  CostProgram program = frameOf(evaluation);
  for (const Kernel &record : evaluation.program.kernels) {
    program.kernels = {record};
    kernels.push_back({&record, "kernels/" + record.name,
                       reportOf(program, evaluation, evaluation.workload)});
  }
  program.kernels.clear();
  for (const Collective &record : evaluation.program.collectives) {
    if (evaluation.sizes.groupSize(record.axes) == 1 || record.count == 0)
      continue;
    program.collectives = {record};
    collectives.push_back({&record, "collectives/" + record.name,
                           reportOf(program, evaluation, evaluation.workload)});
  }
}

/// `launch` in a program of its own.
static LaunchContribution contributionOf(const Launch &launch,
                                         const Evaluation &evaluation) {
  const std::vector<Kernel> &all = evaluation.program.kernels;
  LaunchContribution part;
  part.name = "kernels/" + all[launch.members.front()].name;
  part.count = launch.count;
  CostProgram program = frameOf(evaluation);
  for (size_t member : launch.members) {
    part.kernels.push_back(&all[member]);
    program.kernels.push_back(all[member]);
    program.kernels.back().count = launch.count;
  }
  if (launch.border) {
    uint32_t after = 0;
    while (!areOneRun(*part.kernels[after], all[launch.border->after]))
      ++after;
    Border border = *launch.border;
    border.before = after - 1;
    border.after = after;
    program.borders.push_back(std::move(border));
  }
  Evaluation sub(program, evaluation.plan, evaluation.machine,
                 evaluation.runtime, evaluation.workload);
  addFlops(sub);
  addLatency(sub);
  part.report = std::move(sub.report);
  part.floorUs = sub.floorTimeUs;
  part.figures = std::move(sub.figures);
  if (!sub.curves.empty())
    part.curve = sub.curves.front().second;
  return part;
}

void Contributions::addLaunches(const Evaluation &evaluation) {
  for (const Launch &launch : launchesOf(evaluation))
    launches.push_back(contributionOf(launch, evaluation));
}

Contributions::Contributions(const Evaluation &evaluation) {
  addResidents(evaluation);
  addKernels(evaluation);
  addLaunches(evaluation);
}

//===----------------------------------------------------------------------===//
// Text of records
//===----------------------------------------------------------------------===//

static std::string bytesText(ElementType type) {
  int64_t bits = bitsOf(type);
  return bits % 8 == 0 ? std::to_string(bits / 8) + " B"
                       : std::to_string(bits) + " bit";
}

std::string autopar::times(int64_t count, const std::string &text) {
  return count == 1 ? text : std::to_string(count) + " x " + text;
}

/// "64 by tp(8)", "2050 in blocks of 16", "128256 by tp(8) pad 64".
std::string RecordText::text(const Dim &dim, Side side, bool paged) const {
  const Sizes &sizes = evaluation.sizes;
  std::string result = sizes.logical(dim.extent).str();
  if (paged)
    result +=
        " in blocks of " + decimal(evaluation.runtime.kvBlockTokens.value);
  std::vector<std::string> axes;
  for (AxisId axis : dim.axes)
    if (sizes.axisSize(axis) > 1)
      axes.push_back(evaluation.program.axes[axis] + "(" +
                     std::to_string(sizes.axisSize(axis)) + ")");
  if (side == Side::logical || (axes.empty() && dim.rule != SplitRule::pad))
    return result;
  if (!axes.empty())
    result += " by " + join(axes, "*");
  result += hottestText(dim.sharedBy);
  if (dim.rule == SplitRule::plain || (dim.axes.empty()))
    return result;
  result += " " + std::string(nameOf(dim.rule));
  return dim.rule == SplitRule::pad
             ? result + " " + std::to_string(dim.multiple)
             : result;
}

/// " x 1.25 (hottest device)" where the experts of a layer kind share unevenly.
std::string RecordText::hottestText(std::optional<uint32_t> kind) const {
  int64_t skew = evaluation.sizes.skewOf(kind);
  return skew == Sizes::evenSkew
             ? ""
             : " x " +
                   decimal(static_cast<double>(skew) /
                           static_cast<double>(Sizes::evenSkew)) +
                   " (hottest device)";
}

std::string RecordText::text(const Dims &dims, Side side, int32_t paged) const {
  std::vector<std::string> parts;
  for (size_t i = 0; i < dims.size(); ++i)
    parts.push_back(text(dims[i], side, static_cast<int32_t>(i) == paged));
  return "[" + join(parts, ", ") + "]";
}

std::string RecordText::elements(const Resident &record) const {
  return times(record.count, text(record.parameters(), Side::logical));
}

std::string RecordText::activeElements(const Resident &record) const {
  std::string all = elements(record);
  if (record.topK == 0 || record.parameters().empty())
    return all;
  return all + " x " + std::to_string(record.topK) + " / " +
         text(record.parameters().front(), Side::logical, false);
}

std::string RecordText::checkpointBytes(const Resident &record) const {
  return times(record.count, text(record.shape, Side::logical)) + " x " +
         bytesText(record.type);
}

std::string RecordText::bytes(const Resident &record) const {
  return times(record.count, text(record.shape, Side::local, record.pagedDim)) +
         " x " + bytesText(record.type);
}

std::string RecordText::ofOneSequence(const Resident &record, const Dims &shape,
                                      Side side) const {
  std::string product = text(shape, side);
  if (evaluation.workload.batch != 1)
    product += " / batch " + std::to_string(evaluation.workload.batch);
  return times(record.count, product) + " x " + bytesText(record.type);
}

std::string RecordText::bytesPerToken(const Resident &record, Side side) const {
  std::optional<Dims> token =
      shapeOfToken(record, evaluation.program, "context");
  return ofOneSequence(record, token.value_or(Dims()), side);
}

std::string RecordText::bytesPerSequence(const Resident &record) const {
  return ofOneSequence(record, record.shape, Side::logical);
}

std::string RecordText::bytes(const Activation &record) const {
  return text(record.shape, Side::local) + " x " + bytesText(record.type) +
         ", live in launches " + std::to_string(record.begin) + " to " +
         std::to_string(record.end);
}

std::string RecordText::operand(const Collective &record) const {
  return text(record.shape, Side::local) + hottestText(record.sharedBy) +
         " x " + bytesText(record.type);
}

/// "80 x 2 x [1, 2048] x [64 by tp(8), 128] x [8192]": rows, columns and
/// contraction.
std::string RecordText::matrices(const Kernel &record, Side side) const {
  std::string product = std::to_string(record.flopFactor);
  for (const Dims *dims : {&record.rows, &record.columns, &record.contraction})
    if (!dims->empty())
      product += " x " + text(*dims, side);
  return times(record.count, product);
}

std::string RecordText::flops(const Kernel &record, Side side) const {
  std::string product = matrices(record, side);
  if (!record.pairs)
    return product;
  const Sizes &sizes = evaluation.sizes;
  const Pairs &pairs = *record.pairs;
  Checked query = sizes.logical(pairs.query.extent);
  Checked context = sizes.logical(pairs.context.extent);
  product += " x " + countPairs(query, context, pairs).str() + " pairs";
  Checked devices =
      sizes.groupSize(pairs.query.axes) * sizes.groupSize(pairs.context.axes);
  if (side == Side::local && devices > 1)
    product += " / " + devices.str() + " devices";
  if (pairs.window || pairs.chunk)
    return product + (pairs.causal ? " (causal, " : " (") +
           (pairs.window ? "window " : "chunk ") +
           std::to_string(pairs.window ? pairs.window : pairs.chunk) + ")";
  return pairs.causal ? product + " (q*c - q*(q-1)/2)" : product;
}

std::string RecordText::fullSquareFlops(const Kernel &record) const {
  std::string product = matrices(record, Side::logical);
  if (!record.pairs)
    return product;
  const Sizes &sizes = evaluation.sizes;
  return product + " x " + sizes.logical(record.pairs->query.extent).str() +
         " x " + sizes.logical(record.pairs->context.extent).str() + " pairs";
}

std::string
RecordText::weightsAndKvRead(const LaunchContribution &launch) const {
  std::vector<std::string> parts;
  for (const Kernel *kernel : launch.kernels)
    for (const Traffic &traffic : kernel->traffic) {
      if (traffic.write || traffic.role == Traffic::Role::activation)
        continue;
      std::string part =
          text(traffic.shape, Side::local) + " x " + bytesText(traffic.type);
      if (traffic.topK)
        part += " of the experts that are reached, E*(1-(1-" +
                std::to_string(traffic.topK) + "/E)^tokens) of E";
      parts.push_back(std::move(part));
    }
  std::string sum = join(parts, " + ");
  return times(launch.count, parts.size() > 1 ? "(" + sum + ")" : sum);
}
