//===- Fit.h - Parameters that measurements determine -----------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_CALIBRATE_FIT_H
#define AUTOPAR_CALIBRATE_FIT_H

#include "autopar/Support/Result.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace autopar::calibration {

/// A positive figure that is fitted. Its prior is log-normal: the median is
/// today's value, `spread` the standard deviation of the logarithm.
struct Parameter {
  std::string path, what;
  double today = 0, spread = 0;
  /// The largest value; absent if there is none.
  std::optional<double> most;
  /// The measurement that would determine it.
  std::string measure;
};

/// A measured figure: the index of its quantity (TPOT, TTFT, ...) and of its
/// group, all of whose points are held out together.
struct FitPoint {
  size_t quantity = 0, group = 0;
  double measured = 0;
};

/// Predicts all points from values of all parameters; nothing for a point
/// without a prediction.
using Predict = std::function<Result<std::vector<std::optional<double>>>(
    const std::vector<double> &values)>;

/// A fitted parameter.
struct FittedParameter {
  double value = 0;
  /// 5th and 95th percentile.
  double low = 0, high = 0;
  /// Standard deviation of the posterior over that of the prior.
  double shareOfPrior = 1;

  /// Above this share of the prior's spread, data says little of a parameter.
  static constexpr double undetermined = 0.7;
  bool isDetermined() const { return shareOfPrior < undetermined; }
};

/// Errors of the points of one quantity, as shares: before, after, and held
/// out (predicted by a fit of other rows); and the standard deviation of the
/// logarithm of measured over predicted.
struct QuantityErrors {
  size_t points = 0;
  double before = 0, after = 0, heldOut = 0, spread = 0;
};

struct Fit {
  /// Whether rows that were held out are predicted better than before, or are
  /// fewer than the folds. If not, the parameters keep today's values, with the
  /// intervals of their priors.
  bool helps = true;
  std::vector<FittedParameter> parameters;
  /// Covariance of the logarithms of values.
  std::vector<std::vector<double>> covariance;
  std::vector<QuantityErrors> quantities;
  /// The parameter whose measurement would narrow predictions most; the mean
  /// standard deviation of the logarithm of predictions by parameters, now and
  /// with that parameter known.
  std::optional<size_t> next;
  double predictionSpread = 0, spreadIfKnown = 0;
};

/// Fits `parameters` to `points` with a Cauchy loss and the priors. Noise of
/// each quantity is estimated, from `noise` on (standard deviations of
/// logarithms). Errors: those of `predict`.
Result<Fit> fit(const std::vector<Parameter> &parameters,
                const std::vector<FitPoint> &points,
                const std::vector<double> &noise, const Predict &predict);

} // namespace autopar::calibration

#endif // AUTOPAR_CALIBRATE_FIT_H
