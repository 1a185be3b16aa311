//===- SubstitutedUse.cpp -------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Evaluate/UsedFigures.h"

using namespace autopar;
using namespace autopar::evaluation;
using namespace autopar::hardware;
using namespace autopar::program;
using namespace autopar::report;

/// Returns the use of a curve, "grouped_matmul.bf16" for the path
/// "chips.h100-sxm.kernels.grouped_matmul.bf16".
std::string autopar::evaluation::useOf(const KernelCurve &curve) {
  size_t last = curve.path.rfind('.');
  return curve.path.substr(curve.path.rfind('.', last - 1) + 1);
}

bool autopar::evaluation::servesAll(std::string_view use) {
  return use.substr(use.rfind('.') + 1) == "any";
}

/// Returns the use under the name that bf16 and fp16, which share a curve, have
/// in common.
static std::string alike(std::string use) {
  size_t dot = use.rfind('.');
  std::string key = use.substr(dot + 1);
  if (key.size() >= 4 && key.substr(key.size() - 4) == "fp16")
    use.replace(use.size() - 4, 4, "bf16");
  return use;
}

/// Returns the integer format of the weights that the kernel of a
/// floating-point matmul unpacks; nothing if it has no such weights.
static std::optional<ElementType> packedIn(const Kernel &kernel) {
  if (kernel.flopFactor == 0 || peakKeyOf(kernel.compute) == "int8")
    return std::nullopt;
  for (const Traffic &traffic : kernel.traffic)
    if (traffic.role == Traffic::Role::weight)
      for (ElementType type :
           {ElementType::i32, ElementType::i8, ElementType::u8})
        // Weights in 4-bit floats are stored as bytes, but have curves of their
        // own.
        if (traffic.type == type &&
            (type != ElementType::u8 || !kernel.storage))
          return type;
  return std::nullopt;
}

std::string autopar::evaluation::substitutedUse(const PricedStep &step,
                                                const Kernel &kernel,
                                                const KernelCurve &curve) {
  std::string wanted = alike(step.pool().chip.useOf(
      step.curveKindOf(kernel), kernel.compute, kernel.storage));
  std::string used = alike(useOf(curve));
  // Scans have no curves of their own; a separate assumption says so.
  if (servesAll(used) || kernel.kind == KernelKind::scan)
    return "";
  if (std::optional<ElementType> packed = packedIn(kernel))
    return wanted + " with weights in " + std::string(nameOf(*packed));
  return wanted == used ? "" : wanted;
}
