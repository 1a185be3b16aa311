//===- OpUses.cpp ---------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OpUses.h"

#include "autopar/Dialect/Parallel/Parallel.h"
#include "autopar/Dialect/Training/Training.h"
#include "autopar/Interfaces/Interfaces.h"
#include "autopar/Interfaces/TensorView.h"

#include "llvm/ADT/STLExtras.h"

using namespace autopar;
using namespace autopar::analysis;
using namespace autopar::program;
using namespace mlir;

llvm::DenseSet<StringAttr> autopar::analysis::findNeutralAxes(ModuleOp module) {
  llvm::DenseSet<StringAttr> neutral;
  DeviceMeshOpInterface mesh = findMesh(module);
  if (!mesh)
    return neutral;
  for (Attribute axis : mesh.getAxisNames())
    if (mesh.getAxisSize(cast<StringAttr>(axis).getValue()) == 1)
      neutral.insert(cast<StringAttr>(axis));
  return neutral;
}

bool autopar::analysis::isMadeAlone(Operation *op, Section section) {
  auto isSaved = [](Value operand) {
    return operand.getDefiningOp<training::SavedOp>() != nullptr;
  };
  return section == Section::backward && op->getNumOperands() > 0 &&
         llvm::all_of(op->getOperands(), isSaved);
}

/// Whether `op` reads or makes routed tokens.
static bool isRouted(Operation *op) {
  auto isSet = [](Value value) {
    return isa<RankedTensorType>(value.getType()) && TensorView(value).isSet();
  };
  return llvm::any_of(op->getOperands(), isSet) ||
         llvm::any_of(op->getResults(), isSet);
}

llvm::DenseSet<Operation *>
autopar::analysis::findOpsBesideExperts(Block &block) {
  // Ops stand in the order of their uses: one pass finds what reads results of
  // routed experts, a second one, backwards, what leads to them.
  llvm::DenseSet<Operation *> reads, leads, beside;
  for (Operation &op : block) {
    auto isRead = [&](Value operand) {
      return reads.contains(operand.getDefiningOp());
    };
    if (isRouted(&op) || llvm::any_of(op.getOperands(), isRead))
      reads.insert(&op);
  }
  for (Operation &op : llvm::reverse(block)) {
    auto doesLead = [&](Operation *user) { return leads.contains(user); };
    if (isRouted(&op) || llvm::any_of(op.getUsers(), doesLead))
      leads.insert(&op);
  }
  if (leads.empty())
    return beside;
  for (Operation &op : block)
    if (!reads.contains(&op) && !leads.contains(&op))
      beside.insert(&op);
  return beside;
}

/// Whether `value` is a mean, reduced by collectives: the rest of an update
/// waits for it.
static bool isMean(Value value) {
  Operation *op = value.getDefiningOp();
  while (op && isa<parallel::ParallelDialect>(op->getDialect()) &&
         op->getNumOperands() == 1)
    op = op->getOperand(0).getDefiningOp();
  return isa_and_present<training::MeanOp>(op);
}

bool autopar::analysis::isOfWeights(Operation *op, Section section) {
  auto isAddend = [](Operation *user) {
    while (isa<parallel::ParallelDialect>(user->getDialect()) &&
           user->hasOneUse())
      user = *user->user_begin();
    return isa<training::AccumulateOp>(user);
  };
  // The matmuls of an update wait for the values that are gathered for them.
  auto isMultiplied = [](Operation *user) {
    return isa<training::OrthogonalizeOp>(user);
  };
  if (section == Section::optimizer)
    return llvm::none_of(op->getUsers(), isMultiplied) &&
           !isMean(op->getOperand(0));
  return training::findWeight(op->getOperand(0)) ||
         (section == Section::backward &&
          llvm::all_of(op->getUsers(), isAddend));
}

bool autopar::analysis::isOfInputs(Operation *op, Section section) {
  if (section != Section::backward ||
      !isa<parallel::ParallelDialect>(op->getDialect()))
    return false;
  auto isOfWeight = [](Operation *user) {
    return training::isGradientOf(user, training::ProductRole::weight);
  };
  if (isa<parallel::AllGatherOp>(op))
    return llvm::all_of(op->getUsers(), isOfWeight);
  return isa<parallel::AllReduceOp, parallel::ReduceScatterOp>(op) &&
         transformer::isInputGradient(op->getOperand(0));
}
