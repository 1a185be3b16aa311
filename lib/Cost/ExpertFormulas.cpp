//===- ExpertFormulas.cpp - Tokens and their experts ----------------------===//
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
// Rows of the busiest rank
//===----------------------------------------------------------------------===//

/// Variance over mean of the rows that a token brings to a rank:
///
/// 1 - k/n + (k-1)/(M-1) * (other experts of the rank in the same group + those
/// in other groups * (K-1)/(G-1)),
///
/// where k of the M experts in K of G groups are chosen, all sets being equally
/// likely. The factor n/(n-1) turns it into the variance of the difference of
/// two of n ranks, because a row on one rank is missing on another.
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

/// Returns the expected number of rows of the busiest rank. A token brings at
/// most k rows to a rank (k experts are chosen per token), and at most as many
/// as the rank has experts.
Expr ExpertFormulas::busiest(const Groups &groups) {
  Expr ranks = formulas.devices(shared->shape.front().axes);
  Expr experts = formulas.logical(shared->shape.front().extent);
  Expr k = formulas.number(shared->topK), all = local(shared->rows, groups);
  Expr rows =
      (all / ranks).apply(Op::busiest_rows, ranks, dispersion(experts, ranks));
  return min(rows, all / k * min(k, experts / ranks));
}

/// Returns the number of rows of the most loaded device. If the loads of
/// experts are known, it is the larger of the known load and of the busiest
/// rank for even loads, because the busiest rank of uneven loads never has
/// fewer rows.
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
// Number of distinct experts that tokens reach
//===----------------------------------------------------------------------===//

/// Returns the expected number of distinct experts, out of `experts`, that
/// `tokens` tokens reach. This is the problem of occupied cells (Johnson and
/// Kotz, Urn Models (1977), section 3.2), solved for each quarter of the
/// experts; Zipf's distribution gives the probability of a quarter.
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
  // Adding the quarters in pairs gives an exact sum if they are equal.
  return (quarter(0) + quarter(1)) + (quarter(2) + quarter(3));
}

/// Returns the share of the experts that tokens reach. It assumes that all
/// ranks have as many rows as the busiest rank, and that a token brings at
/// least one row to each rank that it reaches.
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
