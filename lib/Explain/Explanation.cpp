//===- Explanation.cpp ----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Explanation.h"

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
using namespace autopar::schedule;

Explanation &Explanation::input(std::string name, std::string value,
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
  return input(std::move(name), value.str(), std::move(term));
}

Explanation &Explanation::input(std::string name, int64_t value,
                                std::string term) {
  return input(std::move(name), Checked(value), std::move(term));
}

Explanation &Explanation::input(std::string name, double value,
                                std::string term) {
  return input(std::move(name), decimal(value), std::move(term));
}

Explanation &Explanation::figure(const Figure &figure) {
  return from(figure.source.str()).input(figure.path, figure.value);
}

Explanation &Explanation::addTerm(std::string path, std::string text) {
  std::pair<std::string, std::string> term(std::move(path), std::move(text));
  auto &terms = derivation.terms;
  if (std::find(terms.begin(), terms.end(), term) == terms.end())
    terms.push_back(std::move(term));
  return *this;
}

Explanation &Explanation::restsOn(const Figure &figure) {
  addTerm(figure.path, decimal(figure.value));
  return from(figure.source.str());
}

Explanation &Explanation::restsOn(const KernelCurve &curve) {
  addTerm(curve.path, "compute efficiency " + decimal(curve.computeEfficiency) +
                          ", memory efficiency " +
                          decimal(curve.memoryEfficiency) + ", exponent " +
                          decimal(curve.exponent) + ", floor " +
                          decimal(curve.floorUs) + " us");
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

Explanation autopar::explanation::explainPair(const Pool &pool, bool ideal,
                                              CollectiveKind kind,
                                              const std::string &tier,
                                              const std::string &folder,
                                              int64_t bytes) {
  const Tier &joined = *std::find_if(
      pool.tiers.begin(), pool.tiers.end(),
      [&](const Tier &candidate) { return candidate.name == tier; });
  std::string note =
      kind == CollectiveKind::permute ? "one message" : "one sum";
  note += " over the smallest tier that joins the stages";
  Explanation pair;
  pair.input(folder + "bytes", bytes);
  auto curves = joined.curves.find(kind);
  if (!ideal && curves != joined.curves.end() && !curves->second.empty()) {
    const auto &[size, curve] = *curves->second.begin();
    if (kind != CollectiveKind::permute && size > 2)
      note += "; extrapolated from " + std::to_string(size) +
              " to 2 devices: in proportion to the bytes on the wire";
    return pair.note(note)
        .from(curve.source.str())
        .formula("the measured curve of " + std::string(nameOf(kind)) +
                 " at these bytes");
  }
  pair.note(note);
  if (!ideal)
    pair.figure(joined.latency).figure(joined.efficiency);
  return pair.figure(joined.bandwidth)
      .formula(ideal ? "bytes / bandwidth * 1e6"
                     : "latency + bytes / (bandwidth * efficiency) * 1e6");
}
