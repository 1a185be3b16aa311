//===- StorageVerifier.cpp ------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Dialect/Transformer/Transformer.h"

#include "autopar/Support/Text.h"

#include "llvm/ADT/SmallBitVector.h"
#include "llvm/ADT/StringMap.h"

using namespace autopar;
using namespace autopar::transformer;
using namespace mlir;

static LogicalResult verifyRange(WeightOp op, int64_t offset, Checked length,
                                 int64_t total) {
  if (offset >= 0 && Checked(offset) + length <= Checked(total))
    return success();
  return op.emitOpError() << "is stored at " << offset << " to "
                          << (Checked(offset) + length).str()
                          << " of an extent of " << total;
}

static LogicalResult verifyFactor(WeightOp op, const StorageFactor &factor,
                                  llvm::SmallBitVector &seen) {
  if (factor.dim == StorageFactor::noDim)
    return verifyRange(op, factor.offset, 1, factor.total);
  int64_t rank = seen.size();
  if (factor.dim < 0 || factor.dim >= rank)
    return op.emitOpError() << "stores dimension " << factor.dim
                            << " of a value of rank " << rank;
  if (seen.test(factor.dim))
    return op.emitOpError() << "stores dimension " << factor.dim << " twice";
  seen.set(factor.dim);
  if (!factor.total)
    return success();
  int64_t size = TensorView(op.getResult()).getType().getDimSize(factor.dim);
  if (size % factor.outer)
    return op.emitOpError() << "stores dimension " << factor.dim << " of "
                            << size << " elements in " << factor.outer
                            << " parts, which do not divide it";
  return verifyRange(op, factor.offset, size / factor.outer, factor.total);
}

static LogicalResult verifyGroup(WeightOp op, StorageGroupAttr group,
                                 llvm::SmallBitVector &seen) {
  for (const StorageFactor &factor : group.getFactors())
    if (failed(verifyFactor(op, factor, seen)))
      return failure();
  if (!group.getTotal())
    return success();
  StorageGroupAttr factors =
      StorageGroupAttr::get(op.getContext(), group.getFactors(), 0, 0);
  ArrayRef<int64_t> shape = TensorView(op.getResult()).getType().getShape();
  return verifyRange(op, group.getOffset(), getStoredPart(factors, shape).total,
                     group.getTotal());
}

/// Verifies that each size, and the number of all elements, fits in 63 bits.
static LogicalResult verifySizes(WeightOp op) {
  ArrayRef<int64_t> shape = TensorView(op.getResult()).getType().getShape();
  Checked elements = 1;
  for (StorageGroupAttr group : getStorageGroups(op)) {
    Checked size = getStoredPart(group, shape).total;
    elements *= size;
    if (!size.int64() || !elements.int64())
      return op.emitOpError(
          "has a checkpoint tensor of more elements than 63 bits count");
  }
  return success();
}

static LogicalResult verifyFormat(WeightOp op) {
  Attribute attr = op.getStoredFormat();
  auto type = dyn_cast_or_null<TypeAttr>(attr);
  FormatAttr format = getFormat(op);
  if (attr && !format && !(type && toElementType(type.getValue())))
    return op.emitOpError()
           << "is stored as the unknown format '" << attr << "'";
  if (!format)
    return success();
  size_t rank = getStorageGroups(op).size();
  StoredTensor plain = getStoredTensor(op);
  for (FormatTensorAttr tensor : format.getTensors()) {
    Checked elements = 1;
    if (!tensor.getPlain() && rank < 2)
      return op.emitOpError() << "has a format of matrices, but " << rank
                              << " dimensions in the checkpoint";
    for (Checked size : getFormatShape(tensor, plain.shape)) {
      elements *= size;
      if (!size.int64() || !elements.int64())
        return op.emitOpError()
               << "has a tensor '" << tensor.getSuffix().getValue()
               << "' of more elements than 63 bits count";
    }
  }
  return success();
}

LogicalResult transformer::verifyStorage(WeightOp op) {
  llvm::SmallBitVector seen(TensorView(op.getResult()).rank());
  for (StorageGroupAttr group : getStorageGroups(op))
    if (failed(verifyGroup(op, group, seen)))
      return failure();
  size_t spread = seen.size() - seen.count(), stars = op.getName().count('*');
  if (!op.getStorage() && stars)
    return op.emitOpError("has a '*' in its name and no storage");
  if (spread != stars || stars > 1)
    return op.emitOpError()
           << "leaves " << spread << " dimensions out of its storage and has "
           << stars << " '*' in its name, expected one of each or none";
  if (!toElementType(TensorView(op.getResult()).getType().getElementType()))
    return op.emitOpError("has elements of an unknown type");
  return success(succeeded(verifySizes(op)) && succeeded(verifyFormat(op)));
}

//===----------------------------------------------------------------------===//
// Verification of weights that are parts of one stored tensor
//===----------------------------------------------------------------------===//

/// Whether the weight is only a part of its checkpoint tensor.
static bool isPart(WeightOp op) {
  ArrayRef<int64_t> shape = TensorView(op.getResult()).getType().getShape();
  return llvm::any_of(getStorageGroups(op), [&](StorageGroupAttr group) {
    StoredPart part = getStoredPart(group, shape);
    return part.length != part.total;
  });
}

static std::string shapeText(ArrayRef<int64_t> shape) {
  return "[" +
         join(llvm::map_to_vector(shape,
                                  [](int64_t n) { return std::to_string(n); }),
              ", ") +
         "]";
}

/// Verifies two weights with the same name: they must be equal, or parts of one
/// checkpoint tensor.
LogicalResult transformer::verifySameTensor(WeightOp op, WeightOp first) {
  if (op.getType() == first.getType() && op.getStorage() == first.getStorage())
    return success();
  StoredTensor tensor = getStoredTensor(op), other = getStoredTensor(first);
  auto refuse = [&](const std::string &why) {
    InFlightDiagnostic diag = op.emitOpError() << why;
    diag.attachNote(first->getLoc()) << "the other is here";
    return diag;
  };
  if (tensor.shape != other.shape || tensor.copies != other.copies)
    return refuse("is of a tensor " + shapeText(tensor.shape) +
                  ", another weight of its name of one of " +
                  shapeText(other.shape));
  if (tensor.type != other.type || getFormat(op) != getFormat(first))
    return refuse("has another format than another weight of its name");
  if (isPart(op) && isPart(first))
    return success();
  return refuse("is another value of the tensor that another weight of its "
                "name is");
}

/// Whether no other weight follows in the block. Each call scans up to the next
/// weight, so that all calls together take linear time.
static bool isLastWeight(WeightOp op) {
  for (Operation *next = op->getNextNode(); next; next = next->getNextNode())
    if (isa<WeightOp>(next))
      return false;
  return true;
}

LogicalResult transformer::verifyParts(WeightOp op) {
  if (!op->getBlock() || !isLastWeight(op))
    return success();
  llvm::StringMap<WeightOp> firsts;
  for (WeightOp weight : op->getBlock()->getOps<WeightOp>()) {
    auto [it, isNew] = firsts.try_emplace(weight.getName(), weight);
    if (!isNew && failed(verifySameTensor(weight, it->second)))
      return failure();
  }
  return success();
}

StringAttr WeightOp::getTensorName() { return getNameAttr(); }

LogicalResult WeightOp::verifyNamesake(Operation *other) {
  auto weight = dyn_cast<WeightOp>(other);
  return weight ? verifySameTensor(*this, weight) : success();
}
