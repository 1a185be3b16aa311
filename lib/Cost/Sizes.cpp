//===- Sizes.cpp ----------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Cost/Sizes.h"

#include "autopar/Support/Text.h"

#include <algorithm>
#include <cmath>

using namespace autopar;

static std::optional<int64_t> valueOf(std::string_view symbol,
                                      const Workload &workload) {
  std::pair<std::string_view, int64_t> values[] = {
      {"batch", workload.batch},
      {"query", workload.query},
      {"context", workload.context},
      {"source", workload.source},
      {"memory", workload.memory}};
  for (auto [name, value] : values)
    if (symbol == name)
      return value;
  return std::nullopt;
}

Error autopar::refuseOpenAxis(const std::string &axis) {
  bool hasFlag = axis == "tp" || axis == "cp" || axis == "dp";
  return {"", "axis '" + axis + "' of the mesh has no size",
          "give --mesh=" + axis + "=8" +
              (hasFlag ? " or --shard-" + axis + "=8" : "")};
}

/// The degrees that work, at most ten: divisors of `extent`, and under `cap`
/// its multiples.
static std::string legalSizes(int64_t extent, bool cap) {
  std::string text;
  int found = 0;
  for (int64_t size = 1; size <= 1024 && found < 10; ++size) {
    if (extent % size != 0 && !(cap && size % extent == 0))
      continue;
    text += (found++ ? ", " : "") + std::to_string(size);
  }
  return text;
}

Sizes::Sizes(const CostProgram &program, const Plan &plan,
             const Workload &workload)
    : program(program) {
  for (const std::string &symbol : program.symbols) {
    std::optional<int64_t> value = valueOf(symbol, workload);
    symbols.push_back(value.value_or(0));
    if (!value)
      fail(
          "dimension '" + symbol + "' has no size",
          "a workload gives sizes to batch, query, context, source and memory");
  }
  for (const std::string &name : program.axes) {
    const PlanAxis *axis = plan.axis(name);
    axes.push_back(axis && axis->size ? *axis->size : 1);
    if ((!axis || !axis->size) && !error)
      error = refuseOpenAxis(name);
  }
  if (program.placement && !error)
    addSkews(*program.placement);
}

/// Whatever is below is rounding of loads that are even.
static int64_t millionths(double imbalance) {
  constexpr double rounding = 1e-4;
  double scaled = imbalance * static_cast<double>(Sizes::evenSkew) - rounding;
  return std::max(Sizes::evenSkew, static_cast<int64_t>(std::ceil(scaled)));
}

void Sizes::addSkews(const PlacedExperts &placement) {
  int64_t ranks = groupSize(placement.axes).int64().value_or(0);
  if (ranks < 1 || placement.slots % ranks)
    return fail(countOf(placement.slots, "slot") +
                    " of experts do not lie on " + axesText(placement.axes) +
                    " devices",
                "sizes that work: " + legalSizes(placement.slots, false));
  std::vector<double> sums(program.layers.size());
  std::vector<int64_t> counts(program.layers.size());
  for (const PlacedExperts::Layer &layer : placement.layers) {
    sums[layer.kind] += imbalanceOf(layer.slots, layer.loads.tokens, ranks);
    ++counts[layer.kind];
  }
  for (size_t kind = 0; kind < sums.size(); ++kind)
    skews.push_back(counts[kind] ? millionths(sums[kind] /
                                              static_cast<double>(counts[kind]))
                                 : evenSkew);
}

void Sizes::fail(std::string message, std::string note) {
  if (!error)
    error = Error{"", std::move(message), std::move(note)};
}

void Sizes::enter(const char *kind, const std::string &name) {
  recordKind = kind;
  recordName = &name;
}

void Sizes::setSymbol(std::string_view symbol, int64_t value) {
  for (size_t i = 0; i < symbols.size(); ++i)
    if (program.symbols[i] == symbol)
      symbols[i] = value;
}

Checked Sizes::groupSize(const std::vector<AxisId> &ids) const {
  Checked product = 1;
  for (AxisId id : ids)
    product *= axes[id];
  return product;
}

Checked Sizes::logical(const Extent &extent) const {
  Checked value = extent.factor;
  for (SymbolId symbol : extent.symbols)
    value *= symbols[symbol];
  if (extent.limit == 0)
    return value;
  Checked limit = extent.limit;
  for (SymbolId symbol : extent.limitSymbols)
    limit *= symbols[symbol];
  return std::min(value, limit);
}

Checked Sizes::logical(const Dims &dims) const {
  Checked product = 1;
  for (const Dim &dim : dims)
    product *= logical(dim.extent);
  return product;
}

Checked Sizes::split(const Dim &dim, Checked extent) {
  Checked devices = groupSize(dim.axes);
  if (dim.axes.empty())
    return extent;
  Checked part = floorDiv(extent, devices);
  switch (dim.rule) {
  case SplitRule::pad:
    return ceilDiv(roundUp(extent, std::max<int64_t>(1, dim.multiple)),
                   devices);
  case SplitRule::any:
  case SplitRule::ring:
    return ceilDiv(extent * skewOf(dim.sharedBy), devices * evenSkew);
  case SplitRule::cap:
    if (devices > extent && extent > 0) {
      if (floorDiv(devices, extent) * extent != devices)
        refuseSplit(dim, extent, devices);
      return 1;
    }
    break;
  case SplitRule::plain:
    break;
  }
  if (part * devices == extent)
    return part;
  refuseSplit(dim, extent, devices);
  return ceilDiv(extent, devices);
}

Checked Sizes::local(const Dims &dims) { return localPaged(dims, -1, 1); }

Checked Sizes::localPaged(const Dims &dims, int32_t paged, int64_t block) {
  Checked product = 1;
  for (size_t i = 0; i < dims.size(); ++i) {
    Checked extent = split(dims[i], logical(dims[i].extent));
    if (static_cast<int32_t>(i) == paged)
      extent = roundUp(extent, block);
    product *= extent;
  }
  return product;
}

int64_t Sizes::narrow(Checked value, const char *what) {
  if (std::optional<int64_t> integer = value.int64())
    return *integer;
  fail("number of " + std::string(what) + " of '" + program.model +
       "' does not fit in 63 bits");
  return 0;
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

/// "tp = 8", "dpi*tp = 64".
std::string Sizes::axesText(const std::vector<AxisId> &ids) const {
  std::string names;
  for (AxisId id : ids)
    names += (names.empty() ? "" : "*") + program.axes[id];
  return names + " = " + std::to_string(groupSize(ids).int64().value_or(0));
}

void Sizes::refuseSplit(const Dim &dim, Checked extent, Checked devices) {
  std::string what = std::string(recordKind) + " '" +
                     (recordName ? *recordName : std::string()) + "'";
  std::optional<int64_t> value = extent.int64();
  std::string number = value ? std::to_string(*value) : "an extent";
  bool cap = dim.rule == SplitRule::cap;
  fail(what + ": " + number + " does not divide by " + axesText(dim.axes) +
           (cap ? ", nor the other way round" : ""),
       value ? "sizes that work: " + legalSizes(*value, cap) : "");
}

Checked autopar::bytesOf(Checked elements, ElementType type) {
  return ceilDiv(elements * bitsOf(type), 8);
}
