//===- LoadCurve.cpp ------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Serving/LoadCurve.h"

#include "autopar/Serving/QueueModel.h"

#include <algorithm>
#include <cmath>

using namespace autopar;
using namespace autopar::serving;

namespace {

/// Adds points to a load curve. Its state is the first refusal, after which no
/// point counts.
class CurveFinder {
public:
  CurveFinder(const LoadedService &service, const LoadPoint &asked,
              LoadCurve &curve)
      : service(service), asked(asked), curve(curve) {}

  ServingRefusal run();

private:
  bool isOpen() const { return asked.load.concurrency == 0; }
  LoadPoint at(double amount);
  void addPoints();
  void addAsked();
  void findKnee();
  void findMostWithinLimits();
  bool isWithinLimits(const LoadPoint &point) const {
    return !refusal && !point.state.isOverloaded &&
           point.state.shareWithinLimits >= LoadCurve::attainment;
  }
  static double amountOf(const LoadPoint &point) {
    return point.load.concurrency == 0
               ? point.load.ratePerS
               : static_cast<double>(point.load.concurrency);
  }

  const LoadedService &service;
  const LoadPoint &asked;
  LoadCurve &curve;
  ServingRefusal refusal;
};

} // namespace

/// Returns the load with `amount` requests per second in an open loop, or
/// `amount` requests at once in a closed loop.
LoadPoint CurveFinder::at(double amount) {
  LoadPoint point{asked.load, {}};
  if (isOpen())
    point.load.ratePerS = amount;
  else
    point.load.concurrency = static_cast<int64_t>(amount);
  if (!refusal)
    refusal = service.serve(point.load, point.state);
  return point;
}

void CurveFinder::addPoints() {
  if (isOpen()) {
    for (int percent : {5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95})
      curve.points.push_back(at(asked.state.mostPerS * percent / 100));
    return;
  }
  double amount = service.leastAtOnce;
  while (amount < service.mostAtOnce) {
    curve.points.push_back(at(amount));
    amount = std::min(amount * 2, service.mostAtOnce);
  }
  curve.points.push_back(at(amount));
}

void CurveFinder::addAsked() {
  double amount = amountOf(asked);
  auto after = std::find_if(
      curve.points.begin(), curve.points.end(),
      [&](const LoadPoint &point) { return amountOf(point) >= amount; });
  if (after == curve.points.end())
    return;
  curve.asked = after - curve.points.begin();
  if (amountOf(*after) > amount)
    curve.points.insert(after, asked);
}

void CurveFinder::findKnee() {
  double most = 0;
  for (size_t i = 0; i < curve.points.size(); ++i) {
    const LoadPoint &point = curve.points[i];
    double power = point.state.outputTokensPerSecond / point.requestUs();
    if (power <= most)
      continue;
    most = power;
    curve.knee = i;
  }
}

/// Bisects between the last point within the limits and the next point, because
/// a higher load is never faster.
void CurveFinder::findMostWithinLimits() {
  // 20 halvings find the load to 1e-6 of the interval.
  constexpr int halvings = 20;
  if (!asked.load.limits.any())
    return;
  size_t count = 0;
  while (count < curve.points.size() && isWithinLimits(curve.points[count]))
    curve.mostWithinLimits = curve.points[count++];
  if (count == curve.points.size())
    return;
  double low = count == 0 ? 0 : amountOf(curve.points[count - 1]),
         high = amountOf(curve.points[count]);
  for (int i = 0; i < halvings; ++i) {
    double middle = (low + high) / 2;
    if (!isOpen())
      middle = std::floor(middle);
    if (middle <= low)
      return;
    LoadPoint point = at(middle);
    if (isWithinLimits(point)) {
      low = middle;
      curve.mostWithinLimits = point;
    } else {
      high = middle;
    }
  }
}

ServingRefusal CurveFinder::run() {
  addPoints();
  addAsked();
  findKnee();
  findMostWithinLimits();
  return refusal;
}

ServingRefusal autopar::serving::findLoadCurve(const LoadedService &service,
                                               const LoadPoint &asked,
                                               LoadCurve &curve) {
  return CurveFinder(service, asked, curve).run();
}
