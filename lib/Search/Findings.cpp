//===- Findings.cpp -------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Findings.h"

#include "QuestionKind.h"

#include "autopar/Support/Text.h"
#include "autopar/Write/Phrases.h"

#include <algorithm>
#include <cmath>

using namespace autopar;
using namespace autopar::program;
using namespace autopar::search;
using namespace autopar::writing;

//===----------------------------------------------------------------------===//
// Scores of candidates
//===----------------------------------------------------------------------===//

double Worth::tokensPerS(int64_t batch, double stepUs) const {
  BatchPrice price;
  price.timeUs = stepUs;
  return problem.kind().tokensPerS(problem.workload(), batch, price);
}

void Worth::setPrice(Candidate &candidate, const BatchPrice &price) const {
  candidate.timeUs = price.timeUs;
  const QuestionKind &kind = problem.kind();
  candidate.cost = kind.comparesMemory() ? price.totalBytes : price.timeUs;
  candidate.ttftUs = price.ttftUs;
  candidate.tpotUs = price.tpotUs;
  candidate.tokensPerS =
      kind.tokensPerS(problem.workload(), candidate.batch, price);
}

/// Returns the number by which the goal divides tokens per second: devices,
/// dollars or 1.
double Worth::units() const {
  auto devices = static_cast<double>(target.devices);
  if (problem.goal == Goal::throughput_per_device)
    return devices;
  if (problem.goal == Goal::cost)
    return devices * target.machine.price->value;
  return 1;
}

double Worth::scoreOf(const Candidate &candidate) const {
  if (std::optional<double> limit = problem.stepLimitUs();
      limit && candidate.timeUs > *limit)
    return none;
  // A target without a price has no cost that could be compared.
  if (problem.goal == Goal::cost && !target.machine.price)
    return none;
  return problem.goal == Goal::latency ? -candidate.timeUs
                                       : candidate.tokensPerS / units();
}

std::string Worth::text(const Candidate &candidate) const {
  return problem.goal == Goal::latency
             ? formatTime(candidate.timeUs)
             : formatRate(candidate.tokensPerS) + " tokens/s";
}

bool Worth::isTooSlow(const Candidate &candidate) const {
  const ServiceLimits &limits = problem.limits;
  return problem.kind().hasTokenTimes() &&
         ((limits.ttftUs && candidate.ttftUs > *limits.ttftUs) ||
          (limits.tpotUs && candidate.tpotUs > *limits.tpotUs));
}

//===----------------------------------------------------------------------===//
// Collecting what was found
//===----------------------------------------------------------------------===//

static void keepBetter(const Scored &one, Scored &best) {
  if (one.score > best.score ||
      (one.score == best.score && one.candidate.isBefore(best.candidate)))
    best = one;
}

void autopar::search::raise(std::map<int64_t, double> &best, int64_t value,
                            double score) {
  auto [it, isNew] = best.try_emplace(value, score);
  it->second = std::max(it->second, score);
}

static void keepShorter(std::optional<Candidate> &shortest,
                        const Candidate &candidate, double Candidate::*time) {
  if (!shortest || candidate.*time < (*shortest).*time ||
      (candidate.*time == (*shortest).*time && candidate.isBefore(*shortest)))
    shortest = candidate;
}

void Findings::keepShortest(const Candidate &candidate) {
  keepShorter(shortestTtft, candidate, &Candidate::ttftUs);
  keepShorter(shortestTpot, candidate, &Candidate::tpotUs);
}

void Findings::keepClosest(const Candidate &candidate, double bytes) {
  if (bytes > closestBytes ||
      (bytes == closestBytes && !candidate.isBefore(closest)))
    return;
  closest = candidate;
  closestBytes = bytes;
}

void Findings::take(const BatchPrice &price, Candidate candidate,
                    uint64_t points, size_t batch, const Worth &worth) {
  if (!price.isLegal || !price.fits) {
    (price.isLegal ? proof.unfit : proof.illegal) += points;
    if (price.isLegal)
      keepClosest(candidate, price.totalBytes);
    return;
  }
  proof.evaluated += points;
  proof.sharedPrices += points - 1;
  worth.setPrice(candidate, price);
  if (worth.isTooSlow(candidate)) {
    proof.tooSlow += points;
    keepShortest(candidate);
    return;
  }
  frontier.add(candidate);
  double score = worth.scoreOf(candidate);
  keepBetter({score, candidate}, best);
  keepBetter({score, candidate}, bestOfMesh[candidate.sizes]);
  bestOfBatch[batch] = std::max(bestOfBatch[batch], score);
  if (worth.knowsLoads())
    raise(bestOfCopies, PlanChoice::of(candidate.choice).redundantExperts,
          score);
}

static void moveOpen(std::vector<OpenCandidate> &from,
                     std::vector<OpenCandidate> &to) {
  if (to.empty())
    to.swap(from);
  else
    to.insert(to.end(), from.begin(), from.end());
  from = {};
}

void Findings::merge(Findings &other) {
  frontier.add(other.frontier);
  proof.add(other.proof);
  if (std::isfinite(other.closestBytes))
    keepClosest(other.closest, other.closestBytes);
  for (const auto &shortest : {other.shortestTtft, other.shortestTpot})
    if (shortest)
      keepShortest(*shortest);
  keepBetter(other.best, best);
  for (size_t i = 0; i < other.bestOfMesh.size(); ++i)
    keepBetter(other.bestOfMesh[i], bestOfMesh[i]);
  for (size_t i = 0; i < other.bestOfBatch.size(); ++i)
    bestOfBatch[i] = std::max(bestOfBatch[i], other.bestOfBatch[i]);
  for (auto [copies, score] : other.bestOfCopies)
    raise(bestOfCopies, copies, score);
  moveOpen(other.openGathered, openGathered);
  moveOpen(other.openStaged, openStaged);
  moveOpen(other.unfitStaged, unfitStaged);
  wantedBounds.merge(other.wantedBounds);
}
