//===- ExpertSlots.cpp ----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Interpreter/ExpertSlots.h"

#include "autopar/Dialect/Parallel/Parallel.h"
#include "autopar/Interfaces/Interfaces.h"

using namespace autopar;
using namespace autopar::interpreter;
using namespace autopar::program;
using namespace autopar::schedule;
using namespace autopar::parallel;
using namespace mlir;

namespace {

/// Finds the tensor dimensions that have one entry per slot.
class SlotDims {
public:
  explicit SlotDims(ExpertPlacementOp op) : op(op) {
    for (Attribute axis : op.getAxes())
      axes.push_back(cast<StringAttr>(axis));
  }

  LogicalResult find(ModuleOp module);

  llvm::DenseSet<std::pair<Type, unsigned>> dims;

private:
  LogicalResult visit(ShardingOpInterface user);
  LogicalResult add(Value value, unsigned dim);
  LogicalResult verifySplit(Operation *at, const DimRef &dim, int64_t experts);
  LogicalResult verifySets(Operation *user);
  LogicalResult verifyOthers(Operation *user);

  ExpertPlacementOp op;
  SmallVector<StringAttr> axes;
  llvm::DenseSet<Value> found;
};

} // namespace

/// Emits an error unless a dimension is split over the axes of the tables, into
/// as many slots as they have.
LogicalResult SlotDims::verifySplit(Operation *at, const DimRef &dim,
                                    int64_t experts) {
  bool isOfSlots = dim.rule == SplitRule::pad
                       ? dim.multiple == op.getNumSlots()
                       : dim.rule == SplitRule::plain &&
                             op.getNumSlots() == op.getNumExperts();
  if (isOfSlots && dim.axes == ArrayRef(axes) && experts == op.getNumExperts())
    return success();
  InFlightDiagnostic error =
      at->emitError("has experts that are not in the slots of the tables");
  error.attachNote(op.getLoc())
      << op.getNumSlots() << " slots of " << op.getNumExperts() << " experts";
  return error;
}

LogicalResult SlotDims::add(Value value, unsigned dim) {
  TensorView view(value);
  found.insert(value);
  if (view.dim(dim).isWhole())
    return success();
  dims.insert({view.getType(), dim});
  return verifySplit(value.getDefiningOp() ? value.getDefiningOp() : op,
                     view.dim(dim), view.getType().getDimSize(dim));
}

/// Finds the operands of `user` that have one entry per expert, and the values
/// from which they were moved.
LogicalResult SlotDims::visit(ShardingOpInterface user) {
  ShardingFactors factors = user.getShardingFactors();
  int32_t experts = factors.expertsOfResult(0);
  for (unsigned i = 0;
       experts != ShardingFactors::none && i < user->getNumOperands(); ++i)
    for (auto [dim, factor] : llvm::enumerate(factors.operands[i])) {
      Value value = factor == experts ? user->getOperand(i) : Value();
      while (value) {
        if (failed(add(value, dim)))
          return failure();
        Operation *from = value.getDefiningOp();
        bool isMove = from && isa<ParallelDialect>(from->getDialect());
        value = isMove ? from->getOperand(0) : Value();
      }
    }
  return success();
}

LogicalResult SlotDims::verifySets(Operation *user) {
  for (Value result : user->getResults()) {
    if (!isa<RankedTensorType>(result.getType()) || !TensorView(result).isSet())
      continue;
    DimRef experts = TensorView(result).experts(0);
    if (!experts.axes.empty() &&
        failed(verifySplit(user, experts, experts.extent.factor())))
      return failure();
  }
  return success();
}

/// Emits an error for other tensors with the type of one that has slots: slots
/// are recognised by types.
LogicalResult SlotDims::verifyOthers(Operation *user) {
  for (Value result : user->getResults())
    for (auto [type, dim] : dims)
      if (type == result.getType() && !found.contains(result))
        return user->emitError(
            "is of the type of experts in slots, but has none");
  return success();
}

LogicalResult SlotDims::find(ModuleOp module) {
  WalkResult result = module.walk(
      [&](ShardingOpInterface user) { return WalkResult(visit(user)); });
  if (result.wasInterrupted())
    return failure();
  result = module.walk([&](Operation *user) {
    return WalkResult(
        success(succeeded(verifySets(user)) && succeeded(verifyOthers(user))));
  });
  return failure(result.wasInterrupted());
}

FailureOr<ExpertSlots> ExpertSlots::create(ModuleOp module) {
  ExpertSlots slots;
  auto ops = module.getOps<ExpertPlacementOp>();
  if (ops.empty() || !(*ops.begin()).hasTables())
    return slots;
  ExpertPlacementOp op = *ops.begin();
  SlotDims found(op);
  if (failed(found.find(module)))
    return failure();
  slots.dims = std::move(found.dims);
  for (auto [i, number] : llvm::enumerate(*op.getLayers()))
    slots.tables[number] = op.readSlots(i);
  return slots;
}

ArrayRef<int32_t> ExpertSlots::experts() const {
  auto table = layer ? tables.find(*layer) : tables.end();
  return table == tables.end() ? ArrayRef<int32_t>() : ArrayRef(table->second);
}

bool ExpertSlots::lack(RankedTensorType type) const {
  if (!experts().empty())
    return false;
  return llvm::any_of(dims, [&](const auto &dim) { return dim.first == type; });
}

std::vector<int64_t> ExpertSlots::partOf(int64_t parts, int64_t place) const {
  size_t each = experts().size() / parts;
  ArrayRef<int32_t> own = experts().slice(place * each, each);
  return {own.begin(), own.end()};
}
