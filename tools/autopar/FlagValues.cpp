//===- FlagValues.cpp -----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FlagValues.h"

#include "autopar/Pipelines/Pipelines.h"

#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/raw_ostream.h"

using namespace autopar;
using namespace mlir;

std::vector<std::string> &autopar::valuesOf(const PlanFlags &flags,
                                            PlanValues &values,
                                            const std::string &name) {
  for (size_t i = 0; i < values.size(); ++i)
    if (flags.all()[i].name == name)
      return values[i];
  llvm_unreachable("a flag that plans have");
}

std::optional<PlanRequest> autopar::readFlags(const PlanValues &values) {
  PlanFlags flags;
  if (!flags.setAll(values, "autopar"))
    return std::nullopt;
  return readPlanRequest(flags.options(), [](const Twine &message) {
    llvm::errs() << "error: " << message << "\n";
    return failure();
  });
}
