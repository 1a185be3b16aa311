//===- ExpertFormulas.cpp - What tokens ask experts for -------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ExpertFormulas.h"

using namespace autopar;
using namespace autopar::cost;
using namespace autopar::program;

ExpertFormulas::ExpertFormulas(Formulas &formulas, uint32_t index)
    : formulas(formulas), kernel(formulas.program.kernels[index]),
      ref{RecordRef::Kind::kernel, index},
      shared(formulas.program.sharedExperts(kernel)) {}

//===----------------------------------------------------------------------===//
// The busiest rank
//===----------------------------------------------------------------------===//

/// Variance of the rows that a token brings to a rank over their mean, of which
/// ranks that have what others lack differ by n/(n-1): 1 - k/n + (k-1)/(M-1) *
/// (other experts of its groups + those of others * (K-1)/(G-1)), of the M
/// experts in the K of G groups that a token keeps, all sets of k alike.
Expr ExpertFormulas::dispersion(Expr experts, Expr ranks) {
  const ExpertGroups &groups =
      formulas.program.layers[kernel.layer].expertGroups;
  Expr zero = formulas.number(0), one = formulas.number(1);
  Expr k = formulas.number(shared->topK), own = experts / ranks;
  Expr group = experts / formulas.number(groups.all);
  Expr others = min(own, group) - one;
  if (groups.all > 1)
    others += max(own - group, zero) * formulas.number(groups.kept - 1) /
              formulas.number(groups.all - 1);
  Expr kept = group * formulas.number(groups.kept);
  Expr variance = one - k / ranks + others * (k - one) / max(one, kept - one);
  return variance * ranks / max(one, ranks - one);
}

/// The rows that it is expected to have: no token brings more than k, or than
/// the rank has experts.
Expr ExpertFormulas::busiest(const Groups &groups) {
  Expr ranks = formulas.devices(shared->shape.front().axes);
  Expr experts = formulas.logical(shared->shape.front().extent);
  Expr k = formulas.number(shared->topK), all = local(shared->rows, groups);
  Expr rows =
      (all / ranks).apply(Op::busiest_rows, ranks, dispersion(experts, ranks));
  return min(rows, all / k * min(k, experts / ranks));
}

/// Where loads are known, those of the hottest device, if these are more: the
/// largest of uneven loads is never expected below that of even ones.
Expr ExpertFormulas::rows(Expr even, const Groups &groups) {
  if (!shared)
    return even;
  Expr rows = busiest(groups).apply(Op::round_product, formulas.number(1));
  return formulas.program.placement ? max(even, rows) : rows;
}

Expr ExpertFormulas::elements(Expr even, const Groups &groups) {
  if (!shared)
    return even;
  Expr evenRows = max(formulas.number(1), local(kernel.rows, groups));
  return even.apply(Op::scale, rows(evenRows, groups), evenRows);
}

//===----------------------------------------------------------------------===//
// Distinct experts
//===----------------------------------------------------------------------===//

/// Distinct experts, of `experts`, that `tokens` tokens reach: the expected
/// number of occupied cells, Johnson and Kotz, Urn Models (1977), section 3.2,
/// of four quarters of the experts, each chosen as its part of Zipf's law says.
static Expr distinctExperts(Formulas &formulas, Expr experts, Expr topK,
                            Expr tokens) {
  Expr four = formulas.number(4);
  Expr skew = formulas.figure(FigureUse::Kind::routing_skew);
  auto quarter = [&](uint32_t index) {
    Expr share(formulas.graph,
               formulas.graph.make(Op::quarter_share, skew.node(), index));
    return (experts / four)
        .apply(Op::distinct_experts, topK / four * share, tokens);
  };
  // In pairs: where choices are even, the sum of equals is exact.
  return (quarter(0) + quarter(1)) + (quarter(2) + quarter(3));
}

/// As if all ranks had the rows of the busiest, to which a token brings one at
/// least.
Expr ExpertFormulas::reached(const Traffic &weights, const Groups &groups) {
  Expr experts = formulas.logical(weights.shape.front().extent);
  Expr topK = formulas.number(weights.topK);
  Expr rows = local(weights.rows, groups);
  if (shared) {
    Expr ranks = formulas.devices(shared->shape.front().axes);
    topK = min(experts, max(topK, ranks));
    rows = busiest(groups) * ranks;
  }
  return distinctExperts(formulas, experts, topK, rows / topK) / experts;
}
