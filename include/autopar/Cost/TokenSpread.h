//===- TokenSpread.h - How many nodes have experts of a token ---*- C++ -*-===//
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

/// How routed tokens spread over the ranks that share their experts: rank r of
/// n has the block [r*e/n, (r+1)*e/n) of e experts. A token keeps `kept` of
/// `groups` groups of neighbours, all sets of them alike, and of their experts
/// chooses `topK`, all sets of them alike.
struct TokenSpread {
  int64_t topK = 1, experts = 1, groups = 1, kept = 1;
  int64_t ranks = 1;
  /// Of each axis of a group of these ranks, the distance between neighbours
  /// in ranks.
  std::vector<int64_t> strides = {};
  /// Inside one node a token goes to each device once, too.
  bool inNode = false;

  /// Rows of a token, one for each expert, that go to `members` of the ranks.
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

/// The probability that a token has an expert on one of the ranks `some`, which
/// rise: with c of the M experts in the groups that it keeps,
///
///     1 - sum over c of P(c) * C(M - c, topK) / C(M, topK)
///
/// a hypergeometric distribution's, over which groups are kept. The domains
/// that a token is sent to are as many times that as there are domains.
double reachOf(const TokenSpread &spread, const std::vector<int64_t> &some);

} // namespace autopar::cost

#endif // AUTOPAR_COST_TOKENSPREAD_H
