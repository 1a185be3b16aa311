//===- Fit.cpp ------------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// Values are today's times exp(spread * x), so that the prior of each x is a
// standard normal distribution. A point's residual is
//
//     r = log(predicted / measured) / noise
//
// and its loss c^2 log(1 + r^2 / c^2), which a least-squares solver minimises
// as the square of sign(r) times the loss's root.
//
//===----------------------------------------------------------------------===//

#include "autopar/Calibrate/Fit.h"

#include <Eigen/Dense>
#include <unsupported/Eigen/NonLinearOptimization>

#include <algorithm>
#include <cmath>

using namespace autopar;
using namespace autopar::calibration;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// Cauchy's constant: 95 % efficiency for normal noise (Holland and Welsch
/// 1977).
static constexpr double cauchy = 2.385;
/// The step of finite differences in x: well above the rounding of predictions
/// to picoseconds, well below a prior's width.
static constexpr double step = 1e-2;
/// Derivatives serve for values this near, in widths of priors: most of the
/// time is theirs, and logarithms of predictions are nearly linear in those of
/// figures.
static constexpr double reuse = 0.3;
/// Noise below this is that of repeats: 2 to 3 % between equal runs of one
/// version (`autopar validate`, repeats).
static constexpr double leastNoise = 0.02;
/// The weight, in points, of the noise that is assumed at first.
static constexpr double noiseWeight = 4;
/// Passes that estimate the noise again; it moves by less than 1 % after two.
static constexpr int passes = 2;
/// Evaluations of the solver in a pass at most.
static constexpr int mostEvaluations = 12;
static constexpr double tolerance = 1e-3;
/// Folds of the cross-validation.
static constexpr size_t folds = 5;
/// The 95th percentile of a standard normal distribution.
static constexpr double normal95 = 1.6449;

namespace {

/// The residuals of all points and priors, for the solver.
class Residuals {
public:
  Residuals(const std::vector<Parameter> &parameters,
            const std::vector<FitPoint> &points, std::vector<double> noise,
            const Predict &predict)
      : parameters(parameters), points(points), noise(std::move(noise)),
        predict(predict) {}

  int inputs() const { return static_cast<int>(parameters.size()); }
  int values() const { return static_cast<int>(points.size()) + inputs(); }

  int operator()(const VectorXd &x, VectorXd &out) {
    const VectorXd &logs = logErrors(x);
    for (Eigen::Index i = 0; i < logs.size(); ++i)
      out[i] = robust(logs[i] / noiseOf(i));
    out.tail(inputs()) = x;
    return error ? -1 : 0;
  }
  int df(const VectorXd &x, MatrixXd &out) {
    out.setZero();
    const VectorXd logs = logErrors(x);
    const MatrixXd &slopes = slopesAt(x);
    for (Eigen::Index i = 0; i < logs.size(); ++i)
      out.row(i) = slopes.row(i) * (slope(logs[i] / noiseOf(i)) / noiseOf(i));
    out.bottomRows(inputs()).setIdentity();
    return error ? -1 : 0;
  }

  std::vector<double> valuesAt(const VectorXd &x) const;
  /// log(predicted / measured) of each point; 0 without a prediction.
  const VectorXd &logErrors(const VectorXd &x);
  /// The derivatives of `logErrors`.
  const MatrixXd &slopesAt(const VectorXd &x);
  double noiseOf(Eigen::Index point) const {
    return noise[points[static_cast<size_t>(point)].quantity];
  }
  /// The weight of a point by its residual, from 0 to 1.
  static double weight(double r) { return 1 / (1 + r * r / (cauchy * cauchy)); }

  const std::vector<Parameter> &parameters;
  const std::vector<FitPoint> &points;
  std::vector<double> noise;
  std::optional<Error> error;

private:
  static double robust(double r) {
    return std::copysign(
        cauchy * std::sqrt(std::log1p(r * r / (cauchy * cauchy))), r);
  }
  /// The derivative of `robust`.
  static double slope(double r) {
    double root = std::abs(robust(r));
    return root > 0 ? std::abs(r) * weight(r) / root : 1;
  }

  const Predict &predict;
  std::optional<VectorXd> at, slopesFor;
  VectorXd errors;
  MatrixXd slopes;
};

} // namespace

std::vector<double> Residuals::valuesAt(const VectorXd &x) const {
  std::vector<double> values;
  for (size_t i = 0; i < parameters.size(); ++i) {
    const Parameter &one = parameters[i];
    double value =
        one.today * std::exp(one.spread * x[static_cast<Eigen::Index>(i)]);
    values.push_back(std::min(value, one.most.value_or(value)));
  }
  return values;
}

const VectorXd &Residuals::logErrors(const VectorXd &x) {
  if (at && *at == x)
    return errors;
  at = x;
  errors = VectorXd::Zero(static_cast<Eigen::Index>(points.size()));
  Result<std::vector<std::optional<double>>> predicted = predict(valuesAt(x));
  if (!predicted) {
    error = predicted.error();
    return errors;
  }
  for (size_t i = 0; i < points.size(); ++i)
    if (std::optional<double> one = (*predicted)[i])
      errors[static_cast<Eigen::Index>(i)] =
          std::log(*one / points[i].measured);
  return errors;
}

const MatrixXd &Residuals::slopesAt(const VectorXd &x) {
  if (slopesFor && (x - *slopesFor).lpNorm<Eigen::Infinity>() <= reuse)
    return slopes;
  const VectorXd base = logErrors(x);
  slopes = MatrixXd::Zero(base.size(), inputs());
  for (int j = 0; j < inputs() && !error; ++j) {
    // Away from an upper limit, at which nothing changes.
    VectorXd moved = x;
    moved[j] -= step;
    slopes.col(j) = (base - logErrors(moved)) / step;
  }
  slopesFor = x;
  at = x;
  errors = base;
  return slopes;
}

//===----------------------------------------------------------------------===//
// What follows from the optimum
//===----------------------------------------------------------------------===//

/// Estimates the noise of each quantity from its median absolute error, as if
/// `noiseWeight` more points had the noise that was assumed at first.
static std::vector<double> noiseAt(const Residuals &residuals,
                                   const VectorXd &errors,
                                   const std::vector<double> &assumed) {
  std::vector<std::vector<double>> sizes(assumed.size());
  for (size_t i = 0; i < residuals.points.size(); ++i)
    sizes[residuals.points[i].quantity].push_back(
        std::abs(errors[static_cast<Eigen::Index>(i)]));
  std::vector<double> noise;
  for (size_t q = 0; q < assumed.size(); ++q) {
    std::vector<double> &all = sizes[q];
    double own = 0, count = static_cast<double>(all.size());
    if (!all.empty()) {
      auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
      std::nth_element(all.begin(), middle, all.end());
      // The median of |x| of a normal distribution is 0.6745 deviations.
      own = *middle / 0.6745;
    }
    double variance =
        (count * own * own + noiseWeight * assumed[q] * assumed[q]) /
        (count + noiseWeight);
    noise.push_back(std::max(leastNoise, std::sqrt(variance)));
  }
  return noise;
}

/// Returns J^T W J + 1 and J^T W (J x - r) over the points that `chosen`
/// accepts: the normal equations of the linearised problem with its priors.
template <typename Chosen>
static std::pair<MatrixXd, VectorXd>
normalEquations(Residuals &residuals, const VectorXd &x, Chosen chosen) {
  const VectorXd errors = residuals.logErrors(x);
  const MatrixXd &slopes = residuals.slopesAt(x);
  MatrixXd left = MatrixXd::Identity(x.size(), x.size());
  VectorXd right = VectorXd::Zero(x.size());
  for (Eigen::Index i = 0; i < errors.size(); ++i) {
    if (!chosen(residuals.points[static_cast<size_t>(i)]))
      continue;
    double noise = residuals.noiseOf(i);
    double weight = Residuals::weight(errors[i] / noise) / (noise * noise);
    VectorXd row = slopes.row(i).transpose();
    left += weight * row * row.transpose();
    right += weight * row * (row.dot(x) - errors[i]);
  }
  return {left, right};
}

/// Sets the errors of points whose groups are in a fold, predicted by the
/// linearised fit of the others.
static void holdOut(Residuals &residuals, const VectorXd &x,
                    VectorXd &heldOut) {
  heldOut = residuals.logErrors(x);
  for (size_t fold = 0; fold < folds; ++fold) {
    auto isOther = [&](const FitPoint &point) {
      return point.group % folds != fold;
    };
    auto [left, right] = normalEquations(residuals, x, isOther);
    VectorXd own = left.ldlt().solve(right);
    const VectorXd errors = residuals.logErrors(own);
    for (size_t i = 0; i < residuals.points.size(); ++i)
      if (!isOther(residuals.points[i]))
        heldOut[static_cast<Eigen::Index>(i)] =
            errors[static_cast<Eigen::Index>(i)];
  }
}

static void setErrors(Residuals &residuals, const VectorXd &before,
                      const VectorXd &after, const VectorXd &heldOut,
                      std::vector<QuantityErrors> &quantities) {
  for (size_t i = 0; i < residuals.points.size(); ++i) {
    QuantityErrors &one = quantities[residuals.points[i].quantity];
    auto at = static_cast<Eigen::Index>(i);
    ++one.points;
    one.before += std::abs(std::expm1(before[at]));
    one.after += std::abs(std::expm1(after[at]));
    one.heldOut += std::abs(std::expm1(heldOut[at]));
    one.spread += heldOut[at] * heldOut[at];
  }
  for (QuantityErrors &one : quantities) {
    double count = std::max<double>(1, static_cast<double>(one.points));
    one.before /= count;
    one.after /= count;
    one.heldOut /= count;
    one.spread = std::sqrt(one.spread / count);
  }
}

/// Whether groups that were held out are predicted better than before, in the
/// mean absolute logarithm. Fewer groups than folds do not tell.
static bool isBetter(const std::vector<FitPoint> &points,
                     const VectorXd &before, const VectorXd &heldOut) {
  size_t groups = 0;
  for (const FitPoint &point : points)
    groups = std::max(groups, point.group + 1);
  return groups < folds || heldOut.cwiseAbs().sum() < before.cwiseAbs().sum();
}

/// Finds the parameter that, if it were known, would narrow the predictions of
/// the points most.
static void chooseNext(const MatrixXd &slopes, const MatrixXd &covariance,
                       Fit &fitted) {
  auto spread = [&](const MatrixXd &of) {
    double variance = (slopes * of).cwiseProduct(slopes).sum() /
                      std::max<double>(1, static_cast<double>(slopes.rows()));
    return std::sqrt(std::max(0.0, variance));
  };
  fitted.predictionSpread = fitted.spreadIfKnown = spread(covariance);
  for (Eigen::Index j = 0; j < covariance.cols(); ++j) {
    MatrixXd known =
        covariance - covariance.col(j) * covariance.row(j) / covariance(j, j);
    if (double left = spread(known); left < fitted.spreadIfKnown) {
      fitted.spreadIfKnown = left;
      fitted.next = static_cast<size_t>(j);
    }
  }
}

Result<Fit> calibration::fit(const std::vector<Parameter> &parameters,
                             const std::vector<FitPoint> &points,
                             const std::vector<double> &noise,
                             const Predict &predict) {
  Residuals residuals(parameters, points, noise, predict);
  VectorXd x = VectorXd::Zero(residuals.inputs());
  const VectorXd before = residuals.logErrors(x);
  for (int pass = 0; pass < passes && !residuals.error; ++pass) {
    Eigen::LevenbergMarquardt<Residuals> solver(residuals);
    solver.parameters.maxfev = mostEvaluations;
    solver.parameters.ftol = solver.parameters.xtol = tolerance;
    solver.minimize(x);
    residuals.noise = noiseAt(residuals, residuals.logErrors(x), noise);
  }
  const VectorXd after = residuals.logErrors(x);
  auto all = [](const FitPoint &) { return true; };
  MatrixXd covariance = normalEquations(residuals, x, all).first.inverse();
  const MatrixXd slopes = residuals.slopesAt(x);
  VectorXd heldOut;
  holdOut(residuals, x, heldOut);
  if (residuals.error)
    return *residuals.error;
  Fit fitted;
  fitted.quantities.resize(noise.size());
  setErrors(residuals, before, after, heldOut, fitted.quantities);
  chooseNext(slopes, covariance, fitted);
  if (!isBetter(points, before, heldOut)) {
    fitted.helps = false;
    x.setZero();
    covariance.setIdentity();
  }
  std::vector<double> values = residuals.valuesAt(x);
  for (size_t i = 0; i < parameters.size(); ++i) {
    auto at = static_cast<Eigen::Index>(i);
    double deviation = std::sqrt(covariance(at, at));
    double factor = std::exp(normal95 * deviation * parameters[i].spread);
    double high = values[i] * factor;
    fitted.parameters.push_back(
        {values[i], values[i] / factor,
         std::min(high, parameters[i].most.value_or(high)), deviation});
    std::vector<double> &row = fitted.covariance.emplace_back();
    for (size_t j = 0; j < parameters.size(); ++j)
      row.push_back(covariance(at, static_cast<Eigen::Index>(j)) *
                    parameters[i].spread * parameters[j].spread);
  }
  return fitted;
}
