//===- ExplainPlacement.cpp -----------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Explanation.h"

using namespace autopar;
using namespace autopar::explanation;
using namespace autopar::placement;
using namespace autopar::schedule;

void Explainer::explainPlacement() {
  if (!report.placement)
    return;
  Explanation mean, worst;
  for (size_t i = 0; i < report.placement->layers.size(); ++i) {
    const LayerPlacement &layer = report.placement->layers[i];
    std::string path = "placement.layers[" + std::to_string(i) + "].";
    mean.input(path + "imbalance", layer.imbalance());
    worst.input(path + "imbalance", layer.imbalance());
    add(path + "imbalance",
        layer.meanTokens > 0 ? "hottest_tokens / mean_tokens"
                             : "1 where there is no load",
        Explanation()
            .input(path + "hottest_tokens", layer.hottestTokens)
            .input(path + "mean_tokens", layer.meanTokens)
            .from("expert loads: " + step.program.placement->source));
  }
  mean.note("work and traffic of the most loaded device, over the mean; rows "
            "of a layer kind are scaled by the mean over its layers, rounded "
            "up to a millionth");
  add("placement.mean_imbalance", "sum of the inputs / their number", mean);
  add("placement.worst_imbalance", "largest of the inputs", worst);
}
