//===- TimeMoments.h - Moments of random times ------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_SERVING_QUEUEMODEL_TIMEMOMENTS_H
#define AUTOPAR_LIB_SERVING_QUEUEMODEL_TIMEMOMENTS_H

namespace autopar::serving {

/// The mean (us), the variance (us^2) and the third central moment (us^3; 0 if
/// unknown) of a random time. For a sum of independent times, each of the three
/// is the sum of the single values.
struct TimeMoments {
  double mean = 0, variance = 0, third = 0;

  void add(const TimeMoments &other) {
    mean += other.mean;
    variance += other.variance;
    third += other.third;
  }
  void scale(double by) {
    mean *= by;
    variance *= by * by;
    third *= by * by * by;
  }
};

/// The time to the first token as a mixture: a share `shareBehind` of the
/// requests arrives while other prompts are prefilled, the remaining requests
/// do not.
struct FirstTokenTime {
  double shareBehind = 0;
  TimeMoments alone, behind;

  double mean() const {
    return (1 - shareBehind) * alone.mean + shareBehind * behind.mean;
  }
  TimeMoments moments() const {
    double apart = behind.mean - alone.mean;
    return {mean(), (1 - shareBehind) * alone.variance +
                        shareBehind * behind.variance +
                        shareBehind * (1 - shareBehind) * apart * apart};
  }
  void scaleTo(double meanUs) {
    double scale = meanUs / mean();
    alone.scale(scale);
    behind.scale(scale);
  }
  void add(const TimeMoments &time) {
    alone.add(time);
    behind.add(time);
  }
};

} // namespace autopar::serving

#endif // AUTOPAR_LIB_SERVING_QUEUEMODEL_TIMEMOMENTS_H
