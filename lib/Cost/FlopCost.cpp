//===- FlopCost.cpp -------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evaluation.h"

using namespace autopar;

void autopar::addFlops(Evaluation &evaluation) {
  Sizes &sizes = evaluation.sizes;
  Checked linear, attention, fullSquare, logits, device;
  for (const Kernel &kernel : evaluation.program.kernels) {
    KernelCost cost;
    cost.flops = countFlops(kernel, sizes);
    cost.bytes = countBytes(kernel, sizes);
    device += cost.flops.local * kernel.count;
    Checked all = cost.flops.logical * kernel.count;
    switch (kernel.flopClass) {
    case FlopClass::none:
      break;
    case FlopClass::linear:
      linear += all;
      break;
    case FlopClass::attention:
      attention += all;
      fullSquare += cost.flops.fullSquare * kernel.count;
      break;
    case FlopClass::logits:
      logits += all;
      break;
    }
    evaluation.kernels.push_back(cost);
  }
  auto &flops = evaluation.report.flops;
  flops.layersLinear = sizes.narrow(linear, "FLOPs of linear layers");
  flops.attention = sizes.narrow(attention, "FLOPs of attention");
  flops.attentionFullSquare =
      sizes.narrow(fullSquare, "full-square FLOPs of attention");
  flops.logits = sizes.narrow(logits, "FLOPs of the logits");
  flops.total = sizes.narrow(linear + attention + logits, "FLOPs");
  flops.perDevice = sizes.narrow(device, "FLOPs of a device");
}
