//===- LayerParts.cpp -----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LayerParts.h"

#include "BackwardBuilder.h"

using namespace autopar;
using namespace autopar::program;
using namespace autopar::transforms;
using namespace mlir;

using Kind = Recomputation::Kind;
using OpSet = llvm::DenseSet<Operation *>;

namespace {

class LayerParts {
public:
  explicit LayerParts(func::FuncOp function) {
    for (Operation &op : function.getBody().front())
      if (isa<DifferentiableOpInterface>(op))
        ops.push_back(&op);
    findCore();
    findExperts();
    findNetworks();
  }

  MadeAgain partsOf(const Recomputation &what) const;
  MadeAgain allButProducts(int64_t every) const;
  MadeAgain all() const { return {{ops.begin(), ops.end()}, {}}; }

private:
  static LayerRole roleOf(Operation *op) {
    auto known = dyn_cast_if_present<DifferentiableOpInterface>(op);
    return known ? known.getRole() : LayerRole::other;
  }
  static bool has(Operation *op, LayerRole role) { return roleOf(op) == role; }

  void findCore();
  void findExperts();
  void findNetworks();
  bool gather(Value value, OpSet &found) const;
  OpSet opsOf(LayerPart part) const;
  OpSet findUpProducts() const;

  /// The ops of the layer, in their order.
  SmallVector<Operation *> ops;
  /// Ops by group: `core` of attention; `given`, ops of the core whose results
  /// other ops use; `experts` of routed experts; `networks` of other
  /// feed-forward networks.
  OpSet core, given, experts, networks;
};

} // namespace

/// Finds the core of attention: its kernels, and ops between them whose results
/// only they read.
void LayerParts::findCore() {
  auto isCore = [&](Operation *op) { return core.contains(op); };
  for (Operation *op : llvm::reverse(ops)) {
    bool isBetween = has(op, LayerRole::other) && !op->use_empty() &&
                     llvm::all_of(op->getUsers(), isCore) &&
                     llvm::any_of(op->getOperands(), [](Value value) {
                       return has(value.getDefiningOp(), LayerRole::attention);
                     });
    if (has(op, LayerRole::attention) || isBetween)
      core.insert(op);
  }
  for (Operation *op : core)
    if (!llvm::all_of(op->getUsers(), isCore))
      given.insert(op);
}

/// Adds to `found` the ops that compute `value`, back to norms and residuals;
/// returns false if attention is among them.
bool LayerParts::gather(Value value, OpSet &found) const {
  auto op = value.getDefiningOp<DifferentiableOpInterface>();
  if (!op || has(op, LayerRole::norm) || has(op, LayerRole::residual) ||
      !found.insert(op).second)
    return true;
  return !core.contains(op) &&
         llvm::all_of(op->getOperands(),
                      [&](Value operand) { return gather(operand, found); });
}

void LayerParts::findExperts() {
  for (Operation *op : ops)
    if (has(op, LayerRole::combination))
      for (Value operand : op->getOperands())
        gather(operand, experts);
}

void LayerParts::findNetworks() {
  for (Operation *op : ops) {
    OpSet found;
    if (has(op, LayerRole::activation) && !experts.contains(op) &&
        gather(op->getResult(0), found))
      networks.insert(found.begin(), found.end());
  }
}

/// Returns the up-projections of latents: matmuls whose input is a norm of
/// another matmul's result, and the ops between their results and attention.
OpSet LayerParts::findUpProducts() const {
  OpSet found;
  auto isOfLatents = [](Operation *op) {
    return llvm::any_of(op->getOperands(), [](Value value) {
      Operation *norm = value.getDefiningOp();
      return has(norm, LayerRole::norm) &&
             has(norm->getOperand(0).getDefiningOp(), LayerRole::product);
    });
  };
  for (Operation *op : ops) {
    bool follows = has(op, LayerRole::other) && !core.contains(op) &&
                   llvm::any_of(op->getOperands(), [&](Value value) {
                     return found.contains(value.getDefiningOp());
                   });
    if (follows || (has(op, LayerRole::product) && isOfLatents(op)))
      found.insert(op);
  }
  return found;
}

OpSet LayerParts::opsOf(LayerPart part) const {
  auto with = [&](LayerRole role) {
    OpSet found;
    for (Operation *op : ops)
      if (has(op, role))
        found.insert(op);
    return found;
  };
  switch (part) {
  case LayerPart::attention_core:
    return core;
  case LayerPart::norms:
    return with(LayerRole::norm);
  case LayerPart::mlp_activation:
    return with(LayerRole::activation);
  case LayerPart::mlp:
    return experts.empty() ? networks : OpSet();
  case LayerPart::experts:
    return experts;
  case LayerPart::shared_experts:
    return experts.empty() ? OpSet() : networks;
  case LayerPart::mla_up:
    return findUpProducts();
  }
  return {};
}

MadeAgain LayerParts::partsOf(const Recomputation &what) const {
  MadeAgain again;
  for (LayerPart part : what.parts) {
    OpSet own = opsOf(part);
    again.ops.insert(own.begin(), own.end());
  }
  for (Operation *op : given)
    if (again.ops.erase(op))
      again.inside.insert(op);
  return again;
}

/// Returns all ops except matmuls, of which every `every`-th is saved. Grouped
/// matmuls of experts are recomputed: policies of frameworks list the plain
/// matmul, which those are not (PyTorch, torch/utils/checkpoint.py, and
/// torchtitan, distributed/activation_checkpoint.py: aten.mm; JAX,
/// dots_with_no_batch_dims_saveable: dot_general).
MadeAgain LayerParts::allButProducts(int64_t every) const {
  MadeAgain again;
  int64_t products = 0;
  for (Operation *op : ops) {
    bool isSaved = has(op, LayerRole::product) ? products++ % every == 0
                                               : given.contains(op);
    if (!isSaved)
      again.ops.insert(op);
  }
  return again;
}

MadeAgain autopar::transforms::opsMadeAgain(func::FuncOp function,
                                            const Recomputation &what) {
  LayerParts parts(function);
  switch (what.kind) {
  case Kind::none:
  case Kind::fitting:
    return {};
  case Kind::parts:
    return parts.partsOf(what);
  case Kind::save_products:
    return parts.allButProducts(what.every);
  case Kind::full:
    return parts.all();
  }
  return {};
}

std::vector<LayerPart> autopar::transforms::partsIn(ModuleOp module) {
  std::vector<LayerPart> found;
  for (LayerPart part : layerParts)
    if (llvm::any_of(module.getOps<func::FuncOp>(), [&](func::FuncOp layer) {
          MadeAgain again = opsMadeAgain(layer, {Kind::parts, {part}});
          return !again.ops.empty() || !again.inside.empty();
        }))
      found.push_back(part);
  return found;
}
