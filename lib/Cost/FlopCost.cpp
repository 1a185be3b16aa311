//===- FlopCost.cpp -------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evaluation.h"

using namespace autopar;

/// `value` as the report holds it. Errors: more than a 128-bit integer holds.
static Checked exact(Checked value, const char *what, Evaluation &evaluation) {
  if (!value.valid())
    evaluation.sizes.fail("number of " + std::string(what) + " of '" +
                          evaluation.program.model +
                          "' does not fit in 127 bits");
  return value;
}

void autopar::addFlops(Evaluation &evaluation) {
  Sizes &sizes = evaluation.sizes;
  StepFlops all;
  Checked device;
  for (const Kernel &kernel : evaluation.program.kernels) {
    KernelCost cost;
    cost.launched = hasWork(kernel, sizes);
    if (!cost.launched) {
      evaluation.kernels.push_back(cost);
      continue;
    }
    cost.flops = countFlops(kernel, sizes);
    cost.bytes = countBytes(kernel, sizes);
    device += cost.flops.local * kernel.count;
    all.add(kernel, cost.flops);
    evaluation.kernels.push_back(cost);
  }
  auto &flops = evaluation.report.flops;
  flops.layersLinear = exact(all.linear, "FLOPs of linear layers", evaluation);
  flops.attention = exact(all.attention, "FLOPs of attention", evaluation);
  flops.attentionFullSquare = exact(
      all.attentionFullSquare, "full-square FLOPs of attention", evaluation);
  flops.recurrence = exact(all.recurrence, "FLOPs of recurrences", evaluation);
  flops.logits = exact(all.logits, "FLOPs of the logits", evaluation);
  flops.total = exact(all.total(), "FLOPs", evaluation);
  flops.perDevice = exact(device, "FLOPs of a device", evaluation);
}
