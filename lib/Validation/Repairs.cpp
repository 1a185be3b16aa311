//===- Repairs.cpp --------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Repairs.h"

using namespace autopar;

/// 8 x 8 was stored where 8 was meant, or 4 x 4.
static bool repairProduct(ServedDegrees &degrees, const Rule &rule) {
  bool isOne = degrees.ep == 8 || degrees.ep == 4 || degrees.ep == 2;
  if (degrees.expertTp != degrees.ep || !isOne ||
      double(degrees.ep) < rule.number("smallest_degree"))
    return false;
  int64_t product = degrees.ep * degrees.ep;
  for (int64_t *degree : {&degrees.tp, &degrees.attentionDp})
    if (*degree == product) {
      *degree = degrees.ep;
      degrees.expertTp = 1;
      return true;
    }
  return false;
}

static bool repairAttentionDp(ServedDegrees &degrees, const Rule &) {
  if (degrees.attentionDpStated)
    return false;
  int64_t experts = degrees.expertTp * degrees.ep;
  if (experts % degrees.tp == 0)
    degrees.attentionDp = experts / degrees.tp;
  degrees.attentionDpStated = true;
  return true;
}

static bool repairTpAndDp(ServedDegrees &degrees, const Rule &) {
  if (degrees.tp <= 1 || degrees.tp != degrees.attentionDp ||
      degrees.ep != degrees.tp * degrees.attentionDp)
    return false;
  degrees.ep = degrees.attentionDp;
  degrees.tp = 1;
  return true;
}

void autopar::repairRow(ServingRow &row, const RuleSet &rules,
                        RowJudgement &judgement) {
  auto apply = [&](const char *name,
                   bool (*repair)(ServedDegrees &, const Rule &)) {
    const Rule &rule = rules.get(name);
    bool repaired = rule.enabled && repair(row.degrees, rule);
    if (repaired)
      judgement.repairs.emplace_back(name);
    return repaired;
  };
  apply("product-of-degrees", repairProduct);
  apply("attention-dp-unstated", repairAttentionDp);
  judgement.ambiguous = apply("tp-equals-dp", repairTpAndDp);
}
