//===- ExpertSlots.h - The experts that devices hold ------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_INTERPRETER_EXPERTSLOTS_H
#define AUTOPAR_INTERPRETER_EXPERTSLOTS_H

#include "autopar/Interfaces/TensorView.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseSet.h"

#include <map>
#include <vector>

namespace autopar::interpreter {

/// The tables of a module's `parallel.expert_placement`, which say which expert
/// is in which slot. Without such an op, no dimension counts slots.
class ExpertSlots {
public:
  /// Reads the tables of a module. Emits errors: experts that are not split
  /// over the axes of the tables, and other tensors that cannot be told from
  /// those of experts.
  static mlir::FailureOr<ExpertSlots> create(mlir::ModuleOp module);

  /// Sets the number of the layer that is executed from now on; nothing outside
  /// of layers.
  void enter(std::optional<int64_t> number) { layer = number; }
  std::optional<int64_t> number() const { return layer; }

  /// Whether dimension `dim` of tensors of `type` has one entry per slot.
  bool areIn(mlir::RankedTensorType type, unsigned dim) const {
    return dims.contains({type, dim});
  }
  /// Whether tensors of `type` have slots, but the current layer has no table.
  bool lack(mlir::RankedTensorType type) const;
  /// Returns the expert in each slot of the current layer; empty if it has no
  /// table.
  llvm::ArrayRef<int32_t> experts() const;
  /// Returns the experts in the slots of part `place`, if the slots are divided
  /// into `parts` equal parts.
  std::vector<int64_t> partOf(int64_t parts, int64_t place) const;

private:
  std::map<int64_t, std::vector<int32_t>> tables;
  llvm::DenseSet<std::pair<mlir::Type, unsigned>> dims;
  std::optional<int64_t> layer;
};

} // namespace autopar::interpreter

#endif // AUTOPAR_INTERPRETER_EXPERTSLOTS_H
