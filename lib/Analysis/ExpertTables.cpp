//===- ExpertTables.cpp ---------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ExpertTables.h"

#include "autopar/Dialect/Parallel/Parallel.h"

using namespace autopar;
using namespace autopar::analysis;
using namespace autopar::placement;
using namespace autopar::program;
using namespace autopar::parallel;
using namespace mlir;

/// Emits an error if the tables are of other layers, experts or slots than the
/// module has.
static LogicalResult verifyLayers(ExpertPlacementOp op,
                                  ArrayRef<ExpertLayer> layers) {
  if (layers.empty())
    return op.emitOpError("places experts, of which a step runs none");
  auto same = [](const ExpertLayer &layer, int64_t number) {
    return layer.number == number;
  };
  if (!llvm::equal(layers, *op.getLayers(), same)) {
    InFlightDiagnostic diag = op.emitOpError()
                              << "has " << op.getLayers()->size()
                              << " layers, but not those with experts";
    diag.attachNote() << layers.size() << " layers from "
                      << layers.front().number << " to " << layers.back().number
                      << " have experts";
    return diag;
  }
  const ExpertLayer &first = layers.front();
  if (first.experts == op.getNumExperts() && first.slots == op.getNumSlots())
    return success();
  return op.emitOpError() << "has " << op.getNumSlots() << " slots of "
                          << op.getNumExperts()
                          << " experts, but the weights have " << first.slots
                          << " of " << first.experts;
}

static std::optional<NodeTraffic> trafficOf(ArrayRef<double> row,
                                            size_t sends) {
  if (row.empty() || row[0] == 0)
    return std::nullopt;
  return NodeTraffic{row[sends], row[0]};
}

/// Prepares experts whose placement will follow their loads once the devices
/// are known.
void ExpertTables::follow(ArrayRef<ExpertLayer> layers) {
  tables->options = loads->options();
  tables->experts = layers.front().experts;
  tables->slots = layers.front().slots;
  tables->placer = loads;
  for (const ExpertLayer &layer : layers) {
    tables->layers.push_back({0, {layer.number, {}}, {}, {}, {}});
    functions.push_back(layer.function);
  }
}

LogicalResult ExpertTables::read(ModuleOp module, WorkloadBuilder &builder) {
  auto ops = module.getOps<ExpertPlacementOp>();
  if (ops.empty())
    return success();
  ExpertPlacementOp op = *ops.begin();
  std::vector<AxisId> axes = builder.setExpertAxes(op.getAxes().getValue());
  if (!op.hasTables() && !loads)
    return success();
  FailureOr<ExpertLayers> layers = findExpertLayers(module);
  if (failed(layers) ||
      (op.hasTables() && failed(verifyLayers(op, layers->all))))
    return failure();
  tables = std::make_shared<PlacedExperts>();
  tables->axes = std::move(axes);
  if (!op.hasTables()) {
    follow(layers->all);
    return success();
  }
  tables->options = op.getOptions();
  tables->experts = op.getNumExperts();
  tables->slots = op.getNumSlots();
  tables->groups = static_cast<int64_t>(op.getGroups());
  tables->source = !op.getLoadsFrom().empty()   ? op.getLoadsFrom().str()
                   : !op.getTraceFrom().empty() ? op.getTraceFrom().str()
                                                : "tables of the module";
  for (auto [i, layer] : llvm::enumerate(layers->all)) {
    std::vector<double> sends = op.readNodeSends(i);
    tables->layers.push_back({0,
                              {layer.number, op.readLoads(i)},
                              op.readSlots(i),
                              trafficOf(sends, 1),
                              trafficOf(sends, 2)});
    functions.push_back(layer.function);
  }
  return success();
}

std::optional<uint32_t> ExpertTables::setKind(FunctionOpInterface function,
                                              uint32_t kind) {
  FunctionOpInterface whole = findWhole(function);
  std::optional<uint32_t> found;
  for (auto [i, owner] : llvm::enumerate(functions)) {
    if (owner != whole)
      continue;
    if (whole == function)
      tables->layers[i].kind = kind;
    found = tables->layers[i].kind;
  }
  return found;
}

LogicalResult ExpertTables::limit(Operation *op, const LoadLimit &limit) {
  if (!tables)
    return success();
  if (tables->slots != tables->experts)
    return op->emitOpError() << "gives experts a capacity that have copies, "
                             << tables->slots << " slots of " << tables->experts
                             << ": how much of it a copy has is not modelled";
  tables->limit = limit;
  return success();
}
