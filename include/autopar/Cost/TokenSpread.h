//===- TokenSpread.h - Nodes that the experts of a token reach --*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_COST_TOKENSPREAD_H
#define AUTOPAR_COST_TOKENSPREAD_H

#include <cstdint>
#include <vector>

namespace autopar::cost {

/// How tokens are routed over the ranks that share the experts. Rank r of n has
/// the experts [r*e/n, (r+1)*e/n) of e. A token selects `kept` of `groups`
/// groups of consecutive experts, and chooses `topK` experts of these; all sets
/// of groups and of experts are equally likely.
struct TokenSpread {
  int64_t topK = 1, experts = 1, groups = 1, kept = 1;
  int64_t ranks = 1;
  /// For each axis of the group of ranks, the distance between neighbours, in
  /// ranks.
  std::vector<int64_t> strides = {};
  /// Whether a token is sent once to each device inside one node, too, instead
  /// of once per chosen expert.
  bool inNode = false;

  /// Mean number of rows (one per chosen expert) that a token sends to
  /// `members` of the ranks.
  double rowsOver(int64_t members) const {
    return static_cast<double>(topK) * static_cast<double>(members) /
           static_cast<double>(ranks);
  }
  bool operator==(const TokenSpread &other) const {
    return topK == other.topK && experts == other.experts &&
           groups == other.groups && kept == other.kept &&
           ranks == other.ranks && strides == other.strides &&
           inNode == other.inNode;
  }
};

/// Returns the probability that a token has an expert on one of the ranks
/// `some`, a sorted list. If these ranks have c of the M experts in the token's
/// selected groups, it is
///
///     1 - sum over c of P(c) * C(M - c, topK) / C(M, topK)
///
/// from a hypergeometric distribution, averaged over the selected groups. The
/// expected number of domains that a token reaches is this probability times
/// the number of domains.
double reachOf(const TokenSpread &spread, const std::vector<int64_t> &some);

} // namespace autopar::cost

#endif // AUTOPAR_COST_TOKENSPREAD_H
