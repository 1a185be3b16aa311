//===- ServiceTimes.cpp ---------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ServiceTimes.h"

#include <cmath>

using namespace autopar;

double autopar::shareThatWaits(double servers,
                               const std::function<double(double)> &occupancy,
                               double near) {
  // How likely n are served, relative to none: the last n, and all before.
  double last = 1, fewer = 0;
  auto places = static_cast<int64_t>(servers);
  for (int64_t count = 1; count <= places; ++count) {
    fewer += last;
    last *= occupancy(static_cast<double>(count));
    if (last < 1e-12 * fewer)
      return 0;
    // Only their ratio counts.
    if (last > 1e100) {
      fewer /= last;
      last = 1;
    }
  }
  double all = last / (1 - near);
  return all / (fewer + all);
}

/// Of a normal law, above so many deviations.
static double normalAbove(double deviations) {
  return std::erfc(deviations / std::sqrt(2.0)) / 2;
}

/// Of a log-normal law from a least time on with all three moments, whose
/// skewness is (w + 2) * sqrt(w - 1) with w = exp(spread) (Aitchison and Brown
/// 1957, section 2.3).
static double shiftedAbove(const TimeMoments &time, double us) {
  double deviation = std::sqrt(time.variance);
  double skewness = time.third / (time.variance * deviation);
  double half = skewness * skewness / 2;
  double root = std::cbrt(1 + half + skewness * std::sqrt(1 + half / 2));
  double excess = root + 1 / root - 2, spread = std::log1p(excess);
  double mean = deviation / std::sqrt(excess);
  double beyond = us - (time.mean - mean);
  if (beyond <= 0)
    return 1;
  return normalAbove((std::log(beyond / mean) + spread / 2) /
                     std::sqrt(spread));
}

static double shareAbove(const TimeMoments &time, double us) {
  // Of nearly none, logarithms have no digits.
  constexpr double leastSkewness = 1e-3;
  if (us <= 0)
    return 1;
  if (time.third > leastSkewness * std::pow(time.variance, 1.5))
    return shiftedAbove(time, us);
  double spread = std::log1p(time.variance / (time.mean * time.mean));
  if (!(spread > 1e-12))
    return us < time.mean ? 1 : 0;
  double middle = std::log(time.mean) - spread / 2;
  return normalAbove((std::log(us) - middle) / std::sqrt(spread));
}

/// Whoever waits for room takes the mean beside.
double ServiceTimes::shareLater(double us) const {
  double beyond = us - first.mean();
  double waitUs = waiting.share > 0 ? waiting.meanUs / waiting.share : 0;
  double late = beyond <= 0 ? 1 : waitUs > 0 ? std::exp(-beyond / waitUs) : 0;
  double soon = (1 - first.shareBehind) * shareAbove(first.alone, us) +
                first.shareBehind * shareAbove(first.behind, us);
  return (1 - waiting.share) * soon + waiting.share * late;
}

/// Where `shareAbove` of a time around `meanUs` falls to 1 - `share`.
template <typename Above>
static double quantile(double share, double meanUs, Above above) {
  constexpr int halvings = 30;
  double low = 0, high = meanUs;
  while (above(high) > 1 - share)
    high *= 2;
  for (int i = 0; i < halvings; ++i) {
    double middle = (low + high) / 2;
    (above(middle) > 1 - share ? low : high) = middle;
  }
  return high;
}

template <typename Above>
static Percentiles percentilesOf(double meanUs, Above above) {
  return {quantile(0.5, meanUs, above), quantile(0.9, meanUs, above),
          quantile(0.95, meanUs, above), quantile(0.99, meanUs, above)};
}

void ServiceTimes::fill(const ServiceLimits &limits, SteadyState &state) const {
  auto ofFirst = [&](double us) { return shareLater(us); };
  auto ofToken = [&](double us) { return shareAbove(token, us); };
  auto ofRequest = [&](double us) { return shareAbove(request, us); };
  state.ttft = percentilesOf(first.mean() + waiting.meanUs, ofFirst);
  state.tpot = percentilesOf(token.mean, ofToken);
  state.request = percentilesOf(request.mean, ofRequest);
  state.shareWithinLimits = 1;
  if (limits.ttftUs)
    state.shareWithinLimits *= 1 - ofFirst(*limits.ttftUs);
  if (limits.tpotUs)
    state.shareWithinLimits *= 1 - ofToken(*limits.tpotUs);
}
