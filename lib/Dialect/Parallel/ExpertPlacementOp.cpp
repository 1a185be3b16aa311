//===- ExpertPlacementOp.cpp - Experts on devices -------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Dialect/Parallel/Parallel.h"

#include "autopar/Interfaces/ModuleOps.h"
#include "autopar/Support/Limits.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/StringSet.h"

#include <cstring>

using namespace autopar;
using namespace autopar::placement;
using namespace autopar::parallel;
using namespace mlir;

/// Number of columns of the table `node_sends`.
static constexpr int64_t sendsColumns = 3;

//===----------------------------------------------------------------------===//
// Reading the tables of a placement
//===----------------------------------------------------------------------===//

/// Returns the bytes of the resource that holds a table; null if the resource
/// is missing.
static const AsmResourceBlob *blobOf(ElementsAttr table) {
  auto resource = dyn_cast<DenseResourceElementsAttr>(table);
  return resource ? resource.getRawHandle().getBlob() : nullptr;
}

/// Returns row `row` of a table with elements of `T`, whose shape and data were
/// verified before.
template <typename T>
static std::vector<T> readRow(ElementsAttr table, size_t row) {
  size_t columns = table.getShapedType().getDimSize(1);
  std::vector<T> values(columns);
  if (const AsmResourceBlob *blob = blobOf(table)) {
    std::memcpy(values.data(),
                blob->getData().data() + row * columns * sizeof(T),
                columns * sizeof(T));
    return values;
  }
  auto all = cast<DenseElementsAttr>(table).getValues<T>();
  std::copy_n(all.begin() + row * columns, columns, values.begin());
  return values;
}

std::vector<int32_t> ExpertPlacementOp::readSlots(size_t layer) {
  return readRow<int32_t>(getSlotsAttr(), layer);
}

std::vector<double> ExpertPlacementOp::readLoads(size_t layer) {
  return readRow<double>(getLoadsAttr(), layer);
}

std::vector<double> ExpertPlacementOp::readNodeSends(size_t layer) {
  if (!getNodeSendsAttr())
    return {};
  return readRow<double>(getNodeSendsAttr(), layer);
}

PlacementOptions ExpertPlacementOp::getOptions() {
  return {getPolicy(), getGroupsInNode(), getTolerance().convertToDouble()};
}

//===----------------------------------------------------------------------===//
// Verifier of placements
//===----------------------------------------------------------------------===//

namespace {

/// Verifies one op. The tables come last: they are read only after their shapes
/// have been verified.
class PlacementVerifier {
public:
  explicit PlacementVerifier(ExpertPlacementOp op) : op(op) {}

  LogicalResult verify() {
    if (failed(verifyAxes()) || failed(verifyNumbers()))
      return failure();
    if (!op.getLayers())
      return verifyNoTables();
    return success(succeeded(verifyLayers()) && succeeded(verifyShapes()) &&
                   succeeded(verifySlots()) && succeeded(verifyValues()));
  }

private:
  LogicalResult verifyAxes();
  LogicalResult verifyNumbers();
  LogicalResult verifyNoTables();
  LogicalResult verifyLayers();
  LogicalResult verifyShape(StringRef name, ElementsAttr table, Type element,
                            int64_t maxColumns);
  LogicalResult verifyShapes();
  LogicalResult verifyRanks();
  LogicalResult verifySlots();
  LogicalResult verifyValues();
  LogicalResult verifyRow(StringRef name, size_t layer, ArrayRef<double> row);

  ExpertPlacementOp op;
};

} // namespace

LogicalResult PlacementVerifier::verifyAxes() {
  if (failed(verifyOnlyOne<ExpertPlacementOp>(op, "placement")))
    return failure();
  DeviceMeshOpInterface mesh = findMesh(op);
  llvm::StringSet<> seen;
  for (Attribute axis : op.getAxes()) {
    StringRef name = cast<StringAttr>(axis).getValue();
    if (!mesh || !mesh.getAxisSize(name))
      return op.emitOpError() << "is over '" << name
                              << "', which is no axis of the module's mesh";
    if (!seen.insert(name).second)
      return op.emitOpError() << "is over '" << name << "' twice";
  }
  return op.getAxes().empty() ? op.emitOpError("is over no axes") : success();
}

LogicalResult PlacementVerifier::verifyNumbers() {
  double tolerance = op.getTolerance().convertToDouble();
  if (!(tolerance >= 0 && tolerance <= 1))
    return op.emitOpError()
           << "has tolerance " << op.getToleranceAttr() << ", expected 0 to 1";
  int64_t redundant = op.getRedundant();
  if (redundant < 0 || redundant > limits::maxPlacedSlots)
    return op.emitOpError()
           << "has " << redundant << " redundant slots, expected 0 to "
           << limits::maxPlacedSlots;
  if (static_cast<int64_t>(op.getGroups()) < 1)
    return op.emitOpError() << "has " << op.getGroupsAttr().getInt()
                            << " groups of experts, expected at least 1";
  return success();
}

LogicalResult PlacementVerifier::verifyNoTables() {
  if (op.getSlots() || op.getLoads() || op.getNodeSends())
    return op.emitOpError("has tables, but not the layers that they are of");
  if (op.getOptions().policy == PlacementPolicy::balanced)
    return op.emitOpError("is balanced by loads that it does not have");
  return success();
}

LogicalResult PlacementVerifier::verifyLayers() {
  if (!op.getSlots() || !op.getLoads())
    return op.emitOpError("has layers, but not their slots and loads");
  ArrayRef<int64_t> layers = *op.getLayers();
  if (layers.empty() ||
      layers.size() > static_cast<size_t>(limits::maxConfigLayers))
    return op.emitOpError()
           << "has " << layers.size() << " layers, expected 1 to "
           << limits::maxConfigLayers;
  for (size_t i = 0; i < layers.size(); ++i)
    if (layers[i] < (i ? layers[i - 1] + 1 : 0) ||
        layers[i] >= 2 * limits::maxLayers)
      return op.emitOpError() << "has layer " << layers[i] << " at position "
                              << i << ", expected rising numbers from 0";
  return success();
}

/// Verifies the shape of a table: one row per layer, at most `maxColumns`
/// columns, and no missing numbers.
LogicalResult PlacementVerifier::verifyShape(StringRef name, ElementsAttr table,
                                             Type element, int64_t maxColumns) {
  auto rows = static_cast<int64_t>(op.getLayers()->size());
  auto type = dyn_cast<RankedTensorType>(table.getShapedType());
  if (!type || type.getRank() != 2 || type.getElementType() != element ||
      type.getEncoding() || type.getDimSize(0) != rows ||
      type.getDimSize(1) < 1 || type.getDimSize(1) > maxColumns)
    return op.emitOpError()
           << "has " << name << " of type " << table.getShapedType()
           << ", expected tensor<" << rows << "xNx" << element
           << "> with N from 1 to " << maxColumns;
  if (type.getNumElements() > limits::maxLoadNumbers)
    return op.emitOpError()
           << "has " << name << " of " << type.getNumElements()
           << " numbers, expected at most " << limits::maxLoadNumbers;
  int64_t bytes = type.getNumElements() * element.getIntOrFloatBitWidth() / 8;
  if (isa<DenseElementsAttr>(table))
    return success();
  const AsmResourceBlob *blob = blobOf(table);
  if (!blob)
    return op.emitOpError() << "has " << name
                            << " without data: expected dense<...>, or a "
                               "dense_resource that the file has";
  if (static_cast<int64_t>(blob->getData().size()) != bytes)
    return op.emitOpError()
           << "has " << name << " of " << blob->getData().size()
           << " bytes, expected " << bytes;
  return success();
}

LogicalResult PlacementVerifier::verifyShapes() {
  Builder builder(op.getContext());
  if (failed(verifyShape("slots", op.getSlotsAttr(), builder.getI32Type(),
                         limits::maxPlacedSlots)) ||
      failed(verifyShape("loads", op.getLoadsAttr(), builder.getF64Type(),
                         limits::maxPlacedExperts)) ||
      (op.getNodeSends() &&
       failed(verifyShape("node_sends", op.getNodeSendsAttr(),
                          builder.getF64Type(), sendsColumns))))
    return failure();
  if (op.getNodeSends() &&
      op.getNodeSendsAttr().getShapedType().getDimSize(1) != sendsColumns)
    return op.emitOpError() << "has node_sends of less than " << sendsColumns
                            << " numbers for each layer";
  int64_t experts = op.getNumExperts();
  if (op.getNumSlots() - experts != static_cast<int64_t>(op.getRedundant()))
    return op.emitOpError()
           << "has " << op.getNumSlots() << " slots of " << experts
           << " experts, of which " << op.getRedundant() << " are redundant";
  if (experts % static_cast<int64_t>(op.getGroups()))
    return op.emitOpError() << "has " << op.getGroups() << " groups of "
                            << experts << " experts, which they do not divide";
  return verifyRanks();
}

LogicalResult PlacementVerifier::verifyRanks() {
  DeviceMeshOpInterface mesh = findMesh(op);
  int64_t ranks = 1;
  for (Attribute axis : op.getAxes()) {
    // An axis whose size is open makes the product 0.
    int64_t size = *mesh.getAxisSize(cast<StringAttr>(axis).getValue());
    if (llvm::MulOverflow(ranks, size, ranks))
      ranks = limits::maxDevices;
  }
  if (ranks == 0 || op.getNumSlots() % ranks == 0)
    return success();
  return op.emitOpError() << "has " << op.getNumSlots() << " slots, which "
                          << ranks << " devices do not divide";
}

LogicalResult PlacementVerifier::verifySlots() {
  int64_t experts = op.getNumExperts();
  for (auto [i, layer] : llvm::enumerate(*op.getLayers())) {
    std::vector<bool> held(experts);
    for (int32_t expert : op.readSlots(i)) {
      if (expert < 0 || expert >= experts)
        return op.emitOpError()
               << "has expert " << expert << " in a slot of layer " << layer
               << ", expected 0 to " << experts - 1;
      held[expert] = true;
    }
    auto missing = llvm::find(held, false);
    if (missing != held.end())
      return op.emitOpError()
             << "has no slot for expert " << missing - held.begin()
             << " of layer " << layer;
  }
  return success();
}

LogicalResult PlacementVerifier::verifyRow(StringRef name, size_t layer,
                                           ArrayRef<double> row) {
  constexpr double most = static_cast<double>(limits::maxTokens);
  for (double value : row)
    if (!(value >= 0 && value <= most))
      return op.emitOpError() << "has " << value << " in the " << name
                              << " of layer " << (*op.getLayers())[layer]
                              << ", expected 0 to " << limits::maxTokens;
  return success();
}

LogicalResult PlacementVerifier::verifyValues() {
  for (size_t i = 0; i < op.getLayers()->size(); ++i)
    if (failed(verifyRow("loads", i, op.readLoads(i))) ||
        failed(verifyRow("node_sends", i, op.readNodeSends(i))))
      return failure();
  return success();
}

LogicalResult ExpertPlacementOp::verify() {
  return PlacementVerifier(*this).verify();
}
