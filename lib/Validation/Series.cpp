//===- Series.cpp ---------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Series.h"

#include <algorithm>

using namespace autopar;
using namespace autopar::validation;

/// Separates the parts of a key; no cell contains it.
constexpr char separator = '\x1f';

static std::string degreesKey(const ServedDegrees &degrees) {
  std::string key;
  for (int64_t degree : {degrees.tp, degrees.pp, degrees.attentionDp,
                         degrees.expertTp, degrees.ep})
    key += std::to_string(degree) + separator;
  return key;
}

std::string autopar::validation::configurationKey(const ServingRow &row,
                                                  bool withVersion) {
  std::string key;
  for (const std::string &part :
       {row.runtime, withVersion ? row.runtimeVersion : std::string(),
        row.model, row.system, row.precision, row.denseFormat, row.expertFormat,
        row.kvFormat})
    key += part + separator;
  key += std::to_string(row.inputTokens) + separator +
         std::to_string(row.outputTokens) + separator + degreesKey(row.degrees);
  for (const auto &pool : {row.prefill, row.decode})
    if (pool)
      key += degreesKey(pool->degrees) + std::to_string(pool->workers) +
             separator + std::to_string(pool->batchSize.value_or(0)) +
             separator;
  return key;
}

/// Whether `part` of a source is the row's alone: its concurrency, the number
/// of a run, or how many runs its figures are medians of.
static bool isOfRow(std::string_view part) {
  part.remove_prefix(std::min(part.find_first_not_of(' '), part.size()));
  std::string_view name = part.substr(0, part.find('='));
  constexpr std::string_view id = "_id";
  return name.size() < part.size() &&
         (name == "silicon_concurrency" || name == "median_of" ||
          (name.size() > id.size() &&
           name.substr(name.size() - id.size()) == id));
}

/// `part` without the run behind an image: "sglang:v0.5.12 27213/attempts/1".
static std::string_view withoutRun(std::string_view part) {
  size_t attempts = part.find("/attempts/");
  if (attempts == std::string_view::npos)
    return part;
  return part.substr(0, std::min(part.rfind(' ', attempts), part.size()));
}

std::string autopar::validation::seriesKey(const ServingRow &row) {
  std::string key = configurationKey(row, true);
  for (std::string_view rest = row.source; !rest.empty();) {
    size_t end = std::min(rest.find(';'), rest.size());
    if (!isOfRow(rest.substr(0, end)))
      key += std::string(withoutRun(rest.substr(0, end))) + separator;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return key;
}

namespace {

/// The longest chain that ends in one of the lowest ranks, the earliest such.
class PrefixBest {
public:
  struct Chain {
    size_t length = 0, last = 0;
    bool operator<(const Chain &other) const {
      return length != other.length ? length < other.length : last > other.last;
    }
  };
  explicit PrefixBest(size_t ranks) : tree(ranks + 1) {}

  void add(size_t rank, Chain chain) {
    for (size_t i = rank + 1; i < tree.size(); i += i & (~i + 1))
      tree[i] = std::max(tree[i], chain);
  }
  Chain below(size_t rank) const {
    Chain best;
    for (size_t i = rank; i; i &= i - 1)
      best = std::max(best, tree[i]);
    return best;
  }

private:
  /// A Fenwick tree.
  std::vector<Chain> tree;
};

} // namespace

std::vector<bool>
autopar::validation::longestChain(const std::vector<double> &values,
                                  double tolerance) {
  std::vector<double> sorted = values;
  std::sort(sorted.begin(), sorted.end());
  PrefixBest chains(values.size());
  std::vector<PrefixBest::Chain> before(values.size());
  PrefixBest::Chain best;
  for (size_t i = 0; i < values.size(); ++i) {
    auto allowed =
        std::partition_point(sorted.begin(), sorted.end(), [&](double value) {
          return value * (1 - tolerance) <= values[i];
        });
    before[i] = chains.below(size_t(allowed - sorted.begin()));
    PrefixBest::Chain here{before[i].length + 1, i};
    auto rank = std::lower_bound(sorted.begin(), sorted.end(), values[i]);
    chains.add(size_t(rank - sorted.begin()), here);
    best = std::max(best, here);
  }
  std::vector<bool> kept(values.size());
  for (size_t left = best.length, i = best.last; left; --left) {
    kept[i] = true;
    i = before[i].last;
  }
  return kept;
}
