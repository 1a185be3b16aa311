//===- PlanOps.cpp - What a module runs on, and how it was split ----------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Dialect/Parallel/Parallel.h"
#include "autopar/Interfaces/ModuleOps.h"
#include "autopar/Interfaces/NumberSyntax.h"
#include "autopar/Support/Limits.h"

#include "llvm/ADT/StringSet.h"

#include <cmath>

using namespace autopar;
using namespace autopar::parallel;
using namespace mlir;

static LogicalResult verifyFigures(TargetOp op) {
  ArrayRef<double> values = op.getValues();
  if (op.getFigures().size() != values.size())
    return op.emitOpError() << "sets " << op.getFigures().size()
                            << " figures to " << values.size() << " numbers";
  llvm::StringSet<> seen;
  for (auto [path, value] :
       llvm::zip(op.getFigures().getAsValueRange<StringAttr>(), values)) {
    if (path.empty() || !seen.insert(path).second)
      return op.emitOpError()
             << "sets figure '" << path << "', "
             << (path.empty() ? "which has no name" : "which it sets before");
    if (!std::isfinite(value))
      return op.emitOpError()
             << "sets figure '" << path << "' to no finite number";
  }
  return success();
}

LogicalResult TargetOp::verify() {
  std::pair<StringRef, std::optional<StringRef>> names[] = {
      {"hardware", getHardware()}, {"runtime", getRuntime()}};
  for (auto [what, name] : names)
    if (name && name->empty())
      return emitOpError() << "names no " << what;
  if (std::optional<uint64_t> count = getNodes())
    if (auto nodes = static_cast<int64_t>(*count);
        nodes < 1 || nodes > limits::maxDevices)
      return emitOpError() << "has " << nodes << " nodes, expected 1 to "
                           << limits::maxDevices;
  if (std::optional<APFloat> share = getMemoryUtilization()) {
    double value = share->convertToDouble();
    if (!(value > 0 && value <= 1))
      return emitOpError() << "has memory_utilization " << numberText(value)
                           << ", expected a share above 0 and up to 1";
  }
  return failure(failed(verifyFigures(*this)) ||
                 failed(verifyOnlyOne<TargetOp>(*this, "target")));
}

LogicalResult StrategyOp::verify() {
  return verifyOnlyOne<StrategyOp>(*this, "strategy");
}
