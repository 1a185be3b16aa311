//===- TimeMoments.h - Random times by their moments ------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_SERVING_TIMEMOMENTS_H
#define AUTOPAR_LIB_SERVING_TIMEMOMENTS_H

namespace autopar::serving {

/// Of a random time, microseconds: `third` is the third central moment, 0 where
/// nobody says. Of sums of independent times all three are sums.
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

/// Until the first token of a request, of those that come while prompts are
/// read, and of the others.
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

#endif // AUTOPAR_LIB_SERVING_TIMEMOMENTS_H
