//===- ServiceTimes.cpp ---------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ServiceTimes.h"

#include "EngineSteps.h"
#include "LogNormal.h"

#include <algorithm>
#include <cmath>

using namespace autopar;
using namespace autopar::cost;
using namespace autopar::program;
using namespace autopar::serving;

namespace {

/// A quantile of a standard normal number: it exceeds `deviations` with the
/// probability `share`.
struct Quantile {
  double share, deviations;
};
constexpr Quantile p50{0.5, 0}, p90{0.1, 1.28155156554460},
    p95{0.05, 1.64485362695147}, p99{0.01, 2.32634787404084};

/// A log-normal distribution of a time. It is shifted if the time has a third
/// moment.
class TimeDistribution {
public:
  explicit TimeDistribution(const TimeMoments &time);

  /// Returns the probability that the time is above `us`.
  double above(double us) const;
  double at(const Quantile &quantile) const {
    return leastUs + middleUs * std::exp(quantile.deviations * deviation);
  }

private:
  double leastUs = 0, middleUs = 0, deviation = 0;
};

/// The distribution of the time to the first token: a mixture of requests that
/// arrive alone, that arrive behind others, and that wait for room. Requests
/// that wait for room take the mean time of the others beside their wait.
class FirstTokenDistribution {
public:
  explicit FirstTokenDistribution(const ServiceTimes &times)
      : alone(times.first.alone), behind(times.first.behind),
        shareBehind(times.first.shareBehind), waits(times.waiting.share),
        meanUs(times.first.mean()),
        waitUs(waits > 0 ? times.waiting.meanUs / waits : 0) {}

  double above(double us) const;
  double at(const Quantile &quantile) const;

private:
  TimeDistribution alone, behind;
  double shareBehind, waits, meanUs, waitUs;
};

} // namespace

/// The skewness of a log-normal distribution is (w + 2) * sqrt(w - 1), with w =
/// exp(variance of the logarithm) (Aitchison and Brown 1957, section 2.3). This
/// is a cubic equation for w.
TimeDistribution::TimeDistribution(const TimeMoments &time)
    : middleUs(time.mean) {
  // Below these limits, the logarithm of 1 + x has no digits left.
  constexpr double leastSkewness = 1e-3, leastSpread = 1e-12;
  if (time.mean <= 0)
    return;
  double deviationUs = std::sqrt(time.variance);
  double excess = time.variance / (time.mean * time.mean);
  if (time.third > leastSkewness * time.variance * deviationUs) {
    double skewness = time.third / (time.variance * deviationUs);
    double half = skewness * skewness / 2;
    double root = std::cbrt(1 + half + skewness * std::sqrt(1 + half / 2));
    excess = root + 1 / root - 2;
    middleUs = deviationUs / std::sqrt(excess);
    leastUs = time.mean - middleUs;
  }
  double spread = std::log1p(excess);
  if (!(spread > leastSpread))
    return;
  deviation = std::sqrt(spread);
  middleUs *= std::exp(-spread / 2);
}

double TimeDistribution::above(double us) const {
  double beyond = us - leastUs;
  if (us <= 0 || beyond <= 0)
    return 1;
  if (deviation <= 0)
    return beyond < middleUs ? 1 : 0;
  return normalBelow(-std::log(beyond / middleUs) / deviation);
}

double FirstTokenDistribution::above(double us) const {
  double beyond = us - meanUs;
  double late = beyond <= 0 ? 1 : waitUs > 0 ? std::exp(-beyond / waitUs) : 0;
  double soon =
      (1 - shareBehind) * alone.above(us) + shareBehind * behind.above(us);
  return (1 - waits) * soon + waits * late;
}

/// Bisects between the quantiles of both parts, which enclose the quantile of
/// the mixture unless some requests wait for room.
double FirstTokenDistribution::at(const Quantile &quantile) const {
  // 30 halvings reach 1e-9 of the interval.
  constexpr int halvings = 30;
  constexpr double near = 1e-9;
  double low = std::min(alone.at(quantile), behind.at(quantile));
  double high = std::max(alone.at(quantile), behind.at(quantile));
  if (shareBehind <= 0 && waits <= 0)
    return alone.at(quantile);
  while (waits > 0 && above(high) > quantile.share)
    high *= 2;
  if (waits > 0)
    low = 0;
  for (int i = 0; i < halvings && high - low > near * high; ++i) {
    double middle = (low + high) / 2;
    (above(middle) > quantile.share ? low : high) = middle;
  }
  return high;
}

template <typename Distribution>
static Percentiles percentilesOf(const Distribution &of) {
  return {of.at(p50), of.at(p90), of.at(p95), of.at(p99)};
}

void ServiceTimes::spread(const ServedLoad &load, const SteadyState &state,
                          double stepVariance, double growthUs) {
  double steps = decodingSteps(load), each = load.tokensPerStep;
  double tokens = steps * each, decodeUs = tokens * state.tpotUs;
  double ofOthers = growthUs * growthUs * state.running;
  token.mean = state.tpotUs;
  token.variance = (stepVariance / steps + ofOthers) / (each * each);
  TimeMoments firstToken = first.moments();
  request.mean = firstToken.mean + waiting.meanUs - state.firstToken.sendUs +
                 load.decodedTokens() * state.tpotUs;
  request.variance = firstToken.variance +
                     decodeUs * decodeUs * load.answerVariation +
                     tokens * tokens * token.variance;
}

void ServiceTimes::fill(const ServiceLimits &limits, SteadyState &state) const {
  FirstTokenDistribution ofFirst(*this);
  TimeDistribution ofToken(token);
  state.ttft = percentilesOf(ofFirst);
  state.tpot = percentilesOf(ofToken);
  state.request = percentilesOf(TimeDistribution(request));
  state.shareWithinLimits = 1;
  if (limits.ttftUs)
    state.shareWithinLimits *= std::max(0.0, 1 - ofFirst.above(*limits.ttftUs));
  if (limits.tpotUs)
    state.shareWithinLimits *= std::max(0.0, 1 - ofToken.above(*limits.tpotUs));
}

TimeMoments serving::outsideSteps(const RequestHost &host,
                                  const ServedLoad &load, double streams,
                                  double busy, SteadyState &state) {
  if (load.arePrefilled)
    return {};
  FirstTokenParts &parts = state.firstToken;
  parts.hostUs = host.timeUs(load.promptTokens, streams);
  parts.sendUs = host.sendingUs(load.answerTokens, state.tpotUs);
  double receivingUs = host.receivingUs(state.decodeStepUs);
  parts.stepUs += busy * receivingUs;
  TimeMoments time;
  time.mean = parts.hostUs + parts.sendUs + busy * receivingUs;
  // The variance of the lengths of prompts, and that of a uniform share of the
  // steps until the engine looks for requests.
  double tokensUs = host.perTokenUs * load.promptTokens;
  time.variance = tokensUs * tokensUs * load.promptVariation +
                  busy * receivingUs * receivingUs / 3;
  return time;
}
