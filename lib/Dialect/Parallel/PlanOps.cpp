//===- PlanOps.cpp - The target and the split of a module -----------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Dialect/Parallel/Parallel.h"
#include "autopar/Interfaces/BytecodeVersion.h"
#include "autopar/Interfaces/ModuleOps.h"
#include "autopar/Interfaces/NumberSyntax.h"
#include "autopar/Support/Limits.h"

#include "llvm/ADT/StringSet.h"

#include <cmath>

using namespace autopar;
using namespace autopar::parallel;
using namespace mlir;

/// Calls `visit` for each property of a target that bytecode files of `version`
/// contain.
template <typename Properties, typename Visit>
static LogicalResult visitProperties(Properties &own, uint64_t version,
                                     Visit visit) {
  bool isRead =
      succeeded(visit(own.figures)) && succeeded(visit(own.hardware)) &&
      succeeded(visit(own.memory_utilization)) && succeeded(visit(own.nodes)) &&
      succeeded(visit(own.runtime)) && succeeded(visit(own.values));
  isRead &= version < 2 || succeeded(visit(own.prefill_chunk));
  return success(isRead &&
                 (version < 6 || (succeeded(visit(own.max_num_seqs)) &&
                                  succeeded(visit(own.enforce_eager)))));
}

/// Calls `visit` for each property of a strategy that bytecode files of
/// `version` contain.
template <typename Properties, typename Visit>
static LogicalResult visitStrategy(Properties &own, uint64_t version,
                                   Visit visit) {
  bool isRead = succeeded(visit(own.context_kind)) &&
                succeeded(visit(own.dtype)) && succeeded(visit(own.fsdp)) &&
                succeeded(visit(own.kv_dtype)) &&
                succeeded(visit(own.sequence_parallel));
  isRead &= version < 3 || succeeded(visit(own.zero));
  return success(isRead && (version < 7 || succeeded(visit(own.knobs))));
}

static constexpr StringLiteral dialect = ParallelDialect::getDialectNamespace();

LogicalResult StrategyOp::readProperties(DialectBytecodeReader &reader,
                                         OperationState &state) {
  return visitStrategy(
      state.getOrAddProperties<Properties>(), versionOf(reader, dialect),
      [&](auto &property) { return reader.readOptionalAttribute(property); });
}

void StrategyOp::writeProperties(DialectBytecodeWriter &writer) {
  (void)visitStrategy(getProperties(), versionOf(writer, dialect),
                      [&](const auto &property) {
                        writer.writeOptionalAttribute(property);
                        return success();
                      });
}

LogicalResult TargetOp::readProperties(DialectBytecodeReader &reader,
                                       OperationState &state) {
  return visitProperties(
      state.getOrAddProperties<Properties>(), versionOf(reader, dialect),
      [&](auto &property) { return reader.readOptionalAttribute(property); });
}

void TargetOp::writeProperties(DialectBytecodeWriter &writer) {
  (void)visitProperties(getProperties(), versionOf(writer, dialect),
                        [&](const auto &property) {
                          writer.writeOptionalAttribute(property);
                          return success();
                        });
}

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
  if (std::optional<uint64_t> chunk = getPrefillChunk())
    if (auto tokens = static_cast<int64_t>(*chunk);
        tokens < 0 || tokens > limits::maxTokens)
      return emitOpError() << "has a prefill_chunk of " << tokens
                           << " tokens, expected 1 to " << limits::maxTokens
                           << " or none";
  if (std::optional<uint64_t> sequences = getMaxNumSeqs())
    if (auto most = static_cast<int64_t>(*sequences);
        most < 1 || most > limits::maxTokens)
      return emitOpError() << "has max_num_seqs " << most << ", expected 1 to "
                           << limits::maxTokens;
  return failure(failed(verifyFigures(*this)) ||
                 failed(verifyOnlyOne<TargetOp>(*this, "target")));
}

LogicalResult StrategyOp::verify() {
  if (DictionaryAttr knobs = getKnobsAttr())
    for (NamedAttribute knob : knobs)
      if (!isa<UnitAttr, IntegerAttr, FloatAttr, StringAttr>(knob.getValue()))
        return emitOpError()
               << "has knob " << knob.getName() << " = " << knob.getValue()
               << ", expected a number, a text, or nothing";
  return verifyOnlyOne<StrategyOp>(*this, "strategy");
}
