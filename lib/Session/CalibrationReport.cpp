//===- CalibrationReport.cpp ----------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Session/Calibrate.h"

#include "autopar/Support/Text.h"
#include "autopar/Support/TextTables.h"

#include <nlohmann/json.hpp>

#include <cmath>

using namespace autopar;
using namespace autopar::calibration;
using namespace autopar::session;
using nlohmann::ordered_json;

static ordered_json parameterJson(const Parameter &parameter,
                                  const FittedParameter &fitted) {
  return {{"path", parameter.path},
          {"what", parameter.what},
          {"value", fitted.value},
          {"low", fitted.low},
          {"high", fitted.high},
          {"before", parameter.today},
          {"prior_spread", parameter.spread},
          {"share_of_prior", fitted.shareOfPrior},
          {"is_determined", fitted.isDetermined()}};
}

static ordered_json quantityJson(const std::string &name,
                                 const QuantityErrors &errors) {
  constexpr double percent = 100;
  return {{"name", name},
          {"points", errors.points},
          {"mape_before_percent", percent * errors.before},
          {"mape_after_percent", percent * errors.after},
          {"mape_held_out_percent", percent * errors.heldOut},
          {"residual_spread", errors.spread}};
}

std::string session::calibrationJson(const Calibration &calibration) {
  const Fit &fit = calibration.fit;
  ordered_json json = {{"schema", "autopar.calibration/1"},
                       {"files", calibration.files},
                       {"points", calibration.points},
                       {"helps", fit.helps}};
  json["parameters"] = ordered_json::array();
  for (size_t i = 0; i < fit.parameters.size(); ++i)
    json["parameters"].push_back(
        parameterJson(calibration.parameters[i], fit.parameters[i]));
  json["log_covariance"] = fit.covariance;
  json["quantities"] = ordered_json::array();
  for (size_t i = 0; i < fit.quantities.size(); ++i)
    json["quantities"].push_back(
        quantityJson(calibration.quantities[i], fit.quantities[i]));
  if (fit.next)
    json["next"] = {{"path", calibration.parameters[*fit.next].path},
                    {"measure", calibration.parameters[*fit.next].measure},
                    {"prediction_spread", fit.predictionSpread},
                    {"prediction_spread_if_known", fit.spreadIfKnown}};
  return json.dump(2) + "\n";
}

/// A number with three digits.
static std::string digits(double value) { return print("%.3g", value); }

static std::string percentText(double share) {
  return print("%.1f %%", 100 * share);
}

static std::string parametersText(const Calibration &calibration) {
  std::string text = "\nParameters: value, 90 % interval, value before\n";
  for (size_t i = 0; i < calibration.parameters.size(); ++i) {
    const Parameter &one = calibration.parameters[i];
    const FittedParameter &fitted = calibration.fit.parameters[i];
    text += "  " + one.path + "  " + digits(fitted.value) + "  " +
            digits(fitted.low) + " to " + digits(fitted.high) + "  " +
            digits(one.today) +
            (fitted.isDetermined() ? "" : "  not determined") + "\n";
  }
  return text;
}

std::string session::calibrationText(const Calibration &calibration) {
  const Fit &fit = calibration.fit;
  std::string text = measurementsText(calibration.read);
  if (fit.parameters.empty())
    return text + "\nNothing to fit: no figure of serving, memory, training or "
                  "collectives in these files has a prediction.\n";
  text += "\n" + countOf(calibration.points, "point") + " of " +
          countOf(calibration.files.size(), "file") + "\n\n" +
          "Mean absolute error: before, after, and of rows held out\n";
  for (size_t i = 0; i < fit.quantities.size(); ++i) {
    const QuantityErrors &one = fit.quantities[i];
    text += "  " + calibration.quantities[i] + "  " +
            countOf(one.points, "point") + "  " + percentText(one.before) +
            "  " + percentText(one.after) + "  " + percentText(one.heldOut) +
            "\n";
  }
  if (!fit.helps)
    text +=
        "\nRows that were held out are not predicted better: today's values "
        "are kept.\n";
  text += parametersText(calibration);
  if (fit.next)
    text += "\nMeasure next: " + calibration.parameters[*fit.next].measure +
            ".\n  It determines " + calibration.parameters[*fit.next].path +
            ": the spread of predictions by parameters falls from " +
            percentText(fit.predictionSpread) + " to " +
            percentText(fit.spreadIfKnown) + ".\n";
  return text;
}
