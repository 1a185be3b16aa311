//===- ServiceTimes.cpp ---------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ServiceTimes.h"

#include "LengthIntegral.h"

#include <algorithm>
#include <cmath>

using namespace autopar;
using namespace autopar::cost;
using namespace autopar::program;
using namespace autopar::serving;

namespace {

/// So many normal deviations above the middle, a share is above.
struct Quantile {
  double share, deviations;
};
constexpr Quantile p50{0.5, 0}, p90{0.1, 1.28155156554460},
    p95{0.05, 1.64485362695147}, p99{0.01, 2.32634787404084};

/// A log-normal law from a least time on, which is 0 where nobody says a third
/// moment.
class TimeLaw {
public:
  explicit TimeLaw(const TimeMoments &time);

  /// The share that takes longer.
  double above(double us) const;
  double at(const Quantile &quantile) const {
    return leastUs + middleUs * std::exp(quantile.deviations * deviation);
  }

private:
  double leastUs = 0, middleUs = 0, deviation = 0;
};

/// Of first tokens. Whoever waits for room takes the mean beside.
class FirstTokenLaw {
public:
  explicit FirstTokenLaw(const ServiceTimes &times)
      : alone(times.first.alone), behind(times.first.behind),
        shareBehind(times.first.shareBehind), waits(times.waiting.share),
        meanUs(times.first.mean()),
        waitUs(waits > 0 ? times.waiting.meanUs / waits : 0) {}

  double above(double us) const;
  double at(const Quantile &quantile) const;

private:
  TimeLaw alone, behind;
  double shareBehind, waits, meanUs, waitUs;
};

} // namespace

/// With all three moments the skewness is (w + 2) * sqrt(w - 1), of w = exp(the
/// variance of the logarithm) (Aitchison and Brown 1957, section 2.3).
TimeLaw::TimeLaw(const TimeMoments &time) : middleUs(time.mean) {
  // Of nearly none, logarithms have no digits.
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

double TimeLaw::above(double us) const {
  double beyond = us - leastUs;
  if (us <= 0 || beyond <= 0)
    return 1;
  if (deviation <= 0)
    return beyond < middleUs ? 1 : 0;
  return normalBelow(-std::log(beyond / middleUs) / deviation);
}

double FirstTokenLaw::above(double us) const {
  double beyond = us - meanUs;
  double late = beyond <= 0 ? 1 : waitUs > 0 ? std::exp(-beyond / waitUs) : 0;
  double soon =
      (1 - shareBehind) * alone.above(us) + shareBehind * behind.above(us);
  return (1 - waits) * soon + waits * late;
}

/// Between those of both laws, but for those who wait.
double FirstTokenLaw::at(const Quantile &quantile) const {
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

template <typename Law>
static Percentiles percentilesOf(const Law &law) {
  return {law.at(p50), law.at(p90), law.at(p95), law.at(p99)};
}

void ServiceTimes::fill(const ServiceLimits &limits, SteadyState &state) const {
  FirstTokenLaw ofFirst(*this);
  TimeLaw ofToken(token);
  state.ttft = percentilesOf(ofFirst);
  state.tpot = percentilesOf(ofToken);
  state.request = percentilesOf(TimeLaw(request));
  state.shareWithinLimits = 1;
  if (limits.ttftUs)
    state.shareWithinLimits *= std::max(0.0, 1 - ofFirst.above(*limits.ttftUs));
  if (limits.tpotUs)
    state.shareWithinLimits *= std::max(0.0, 1 - ofToken.above(*limits.tpotUs));
}
