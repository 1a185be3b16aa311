//===- Repairs.cpp --------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Repairs.h"

#include "autopar/Support/Limits.h"

#include <utility>

using namespace autopar;
using namespace autopar::validation;

/// 8 x 8 was stored where 8 was meant, 4 x 4 or 2 x 2.
static bool repairProduct(ServedDegrees &degrees, double smallest) {
  bool isOne = degrees.ep == 8 || degrees.ep == 4 || degrees.ep == 2;
  if (degrees.expertTp != degrees.ep || !isOne || double(degrees.ep) < smallest)
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

/// Sets the concurrency that the source states, if that is the row's for each
/// rank of attention-dp.
static bool repairBatch(ServingRow &row) {
  auto stated = row.sourceFields.find("silicon_concurrency");
  int64_t ranks = row.degrees.attentionDp;
  if (ranks <= 1 || stated == row.sourceFields.end() ||
      row.concurrency > limits::maxTokens / ranks ||
      stated->second != std::to_string(row.concurrency * ranks))
    return false;
  row.concurrency *= ranks;
  return true;
}

static bool repairAttentionDp(ServedDegrees &degrees) {
  if (degrees.attentionDpStated)
    return false;
  int64_t experts = degrees.expertTp * degrees.ep;
  if (experts % degrees.tp == 0)
    degrees.attentionDp = experts / degrees.tp;
  degrees.attentionDpStated = true;
  return true;
}

static bool repairTpAndDp(ServedDegrees &degrees) {
  if (degrees.tp <= 1 || degrees.tp != degrees.attentionDp ||
      degrees.ep != degrees.tp * degrees.attentionDp)
    return false;
  degrees.ep = degrees.attentionDp;
  degrees.tp = 1;
  return true;
}

/// One tray is split by tp throughout; beyond it each device has whole experts.
static bool repairPool(ServedDegrees &degrees, double tray) {
  if (degrees.attentionDp <= 1 || degrees.tp != 1 || degrees.ep != 1 ||
      degrees.expertTp != degrees.attentionDp)
    return false;
  if (double(degrees.attentionDp) <= tray)
    std::swap(degrees.tp, degrees.attentionDp);
  else
    std::swap(degrees.expertTp, degrees.ep);
  return true;
}

/// The beginning of a source: a file, a dump.
static std::string fileOf(const ServingRow &row) {
  return row.source.substr(0, row.source.find(';'));
}

Repairs::Repairs(const std::vector<ServingRow> &rows, const RuleSet &rules)
    : rules(rules) {
  for (const ServingRow &row : rows) {
    ServedDegrees degrees = row.degrees;
    if (!row.decode && repairProduct(degrees, smallestDegree()))
      sourcesOfProducts.insert(fileOf(row));
  }
}

double Repairs::smallestDegree() const {
  return rules.get("product-of-degrees").number("smallest_degree");
}

void Repairs::apply(ServingRow &row, RowJudgement &judgement) const {
  if (row.decode)
    applyToPools(row, judgement);
  else
    applyToDegrees(row, judgement);
}

void Repairs::applyToDegrees(ServingRow &row, RowJudgement &judgement) const {
  auto apply = [&](const char *name, auto repair) {
    bool repaired = rules.get(name).enabled && repair(row.degrees);
    if (repaired)
      judgement.repairs.emplace_back(name);
    return repaired;
  };
  if (rules.get("batch-of-rank").enabled && repairBatch(row))
    judgement.repairs.emplace_back("batch-of-rank");
  apply("product-of-degrees", [&](ServedDegrees &degrees) {
    return repairProduct(degrees, smallestDegree());
  });
  apply("product-of-twos", [&](ServedDegrees &degrees) {
    return sourcesOfProducts.count(fileOf(row)) > 0 &&
           repairProduct(degrees, 2);
  });
  apply("attention-dp-unstated", repairAttentionDp);
  judgement.ambiguous = apply("tp-equals-dp", repairTpAndDp);
}

void Repairs::applyToPools(ServingRow &row, RowJudgement &judgement) const {
  const Rule &rule = rules.get("attention-dp-of-pools");
  if (!rule.enabled || row.runtime != rule.text("runtime") ||
      row.system != rule.text("system"))
    return;
  bool repaired = false;
  for (auto *pool : {&row.prefill, &row.decode})
    if (*pool)
      repaired |= repairPool((*pool)->degrees, rule.number("tray"));
  if (repaired)
    judgement.repairs.push_back(rule.name);
}
