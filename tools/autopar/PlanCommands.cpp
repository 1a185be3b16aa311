//===- PlanCommands.cpp ---------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PlanCommands.h"

#include "autopar/Pipelines/Pipelines.h"
#include "autopar/Plan/DeviceOrder.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"

using namespace autopar;

bool autopar::setFlags(PlanFlags &flags, const PlanValues &values) {
  // Names the tool in errors of values.
  const char *arguments[] = {"autopar"};
  llvm::cl::ParseCommandLineOptions(1, arguments);
  for (auto [flag, given] : llvm::zip_equal(flags.all(), values))
    for (const std::string &value : given)
      if (!flags.set(flag, value))
        return false;
  return true;
}

int autopar::printGroups(const std::string &name, PlanFlags &flags,
                         const PlanValues &values) {
  auto refuse = [](const llvm::Twine &message) {
    llvm::errs() << "error: " << message << "\n";
    return mlir::failure();
  };
  if (!setFlags(flags, values))
    return 1;
  mlir::FailureOr<Plan> plan = readPlanOptions(flags.options(), refuse);
  if (failed(plan))
    return 1;
  Result<std::vector<std::vector<int64_t>>> groups = listGroups(*plan, name);
  if (!groups)
    return failed(refuse(groups.error().str()));
  for (const std::vector<int64_t> &group : *groups) {
    llvm::interleave(group, llvm::outs(), " ");
    llvm::outs() << "\n";
  }
  return 0;
}
