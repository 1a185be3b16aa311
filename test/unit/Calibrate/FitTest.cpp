//===- FitTest.cpp --------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Calibrate/Fit.h"

#include "gtest/gtest.h"

#include <cmath>

using namespace autopar;
using namespace autopar::calibration;

namespace {

/// y = a * t + b with t = 1, 10, 100: a and b are determined; c is not used.
std::vector<std::optional<double>> line(const std::vector<double> &values) {
  std::vector<std::optional<double>> all;
  for (double t : {1.0, 10.0, 100.0})
    all.emplace_back(values[0] * t + values[1]);
  return all;
}

const std::vector<Parameter> parameters = {
    {"a", "", 2, 1, std::nullopt, "x"},
    {"b", "", 10, 1, std::nullopt, "y"},
    {"c", "", 5, 0.5, std::nullopt, "z"}};

/// Points of a = 3, b = 20: 23, 50, 320.
const std::vector<FitPoint> points = {{0, 0, 23}, {0, 1, 50}, {0, 2, 320}};

TEST(Fit, FindsWhatDataDetermines) {
  Result<Fit> fitted = fit(parameters, points, {0.02}, line);
  ASSERT_TRUE(fitted) << fitted.error().str();
  // The priors pull by (noise / spread)^2, some 1e-3.
  EXPECT_NEAR(fitted->parameters[0].value, 3, 0.05);
  EXPECT_NEAR(fitted->parameters[1].value, 20, 0.5);
  EXPECT_TRUE(fitted->parameters[0].isDetermined());
  EXPECT_TRUE(fitted->parameters[1].isDetermined());
  EXPECT_LT(fitted->parameters[0].low, 3);
  EXPECT_GT(fitted->parameters[0].high, 3);
  // Before: 12, 30 and 210 for 23, 50 and 320.
  EXPECT_NEAR(fitted->quantities[0].before,
              (11.0 / 23 + 20.0 / 50 + 110.0 / 320) / 3, 1e-9);
  EXPECT_LT(fitted->quantities[0].after, 0.01);
}

TEST(Fit, NamesWhatDataDoesNotDetermine) {
  Result<Fit> fitted = fit(parameters, points, {0.02}, line);
  ASSERT_TRUE(fitted);
  const FittedParameter &unused = fitted->parameters[2];
  EXPECT_EQ(unused.value, 5);
  EXPECT_FALSE(unused.isDetermined());
  // Its interval is its prior's: 5 times exp(1.6449 * 0.5).
  EXPECT_NEAR(unused.high, 5 * std::exp(1.6449 * 0.5), 1e-6);
}

TEST(Fit, ABrokenRowDoesNotDecide) {
  std::vector<FitPoint> many;
  for (size_t i = 0; i < 8; ++i)
    for (FitPoint point : points) {
      point.group = i;
      many.push_back(point);
    }
  many[0].measured *= 20;
  auto repeated = [](const std::vector<double> &values) {
    std::vector<std::optional<double>> all;
    for (int i = 0; i < 8; ++i)
      for (const std::optional<double> &one : line(values))
        all.push_back(one);
    return all;
  };
  Result<Fit> fitted = fit(parameters, many, {0.02}, repeated);
  ASSERT_TRUE(fitted);
  EXPECT_NEAR(fitted->parameters[0].value, 3, 0.1);
  EXPECT_NEAR(fitted->parameters[1].value, 20, 1);
}

TEST(Fit, WhatDoesNotHelpOtherRowsIsNotTaken) {
  // Errors of opposite signs: a fit of some rows is worse for the others.
  auto same = [](const std::vector<double> &values) {
    return std::vector<std::optional<double>>(6, values[0]);
  };
  std::vector<FitPoint> apart;
  for (size_t i = 0; i < 6; ++i)
    apart.push_back({0, i, i % 2 == 0 ? 2.2 : 1.8});
  Result<Fit> fitted = fit({parameters[0]}, apart, {0.02}, same);
  ASSERT_TRUE(fitted);
  EXPECT_FALSE(fitted->helps);
  EXPECT_EQ(fitted->parameters[0].value, 2);
  EXPECT_FALSE(fitted->parameters[0].isDetermined());
}

TEST(Fit, ALimitIsKept) {
  std::vector<Parameter> limited = parameters;
  limited[0].most = 2.5;
  Result<Fit> fitted = fit(limited, points, {0.02}, line);
  ASSERT_TRUE(fitted);
  EXPECT_LE(fitted->parameters[0].value, 2.5);
}

TEST(Fit, AnErrorOfThePredictionIsReturned) {
  auto fails = [](const std::vector<double> &)
      -> Result<std::vector<std::optional<double>>> {
    return Error{"", "no prediction", ""};
  };
  Result<Fit> fitted = fit(parameters, points, {0.02}, fails);
  ASSERT_FALSE(fitted);
  EXPECT_EQ(fitted.error().message, "no prediction");
}

} // namespace
