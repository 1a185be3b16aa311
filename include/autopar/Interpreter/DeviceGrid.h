//===- DeviceGrid.h - Devices, and what of a dimension each has -*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_INTERPRETER_DEVICEGRID_H
#define AUTOPAR_INTERPRETER_DEVICEGRID_H

#include "autopar/Interpreter/ExpertSlots.h"
#include "autopar/Program/Workload.h"

#include "mlir/IR/BuiltinOps.h"

#include <vector>

namespace autopar::interpreter {

/// The devices of a module's mesh, numbered with the last axis fastest, and the
/// values of its symbols.
class DeviceGrid {
public:
  /// Without a mesh there is one device. Errors are emitted: an open size,
  /// experts without slots.
  static mlir::FailureOr<DeviceGrid> create(mlir::ModuleOp module,
                                            const program::Workload &workload);

  int64_t size() const { return devices; }
  /// The devices that execute, in order: all, those at one place of an axis, or
  /// those with copies of a weight.
  llvm::ArrayRef<int64_t> active() const { return executing; }
  void enter(mlir::StringAttr axis, int64_t place);
  void enter(std::vector<int64_t> some) { executing = std::move(some); }
  const program::Workload &workload() const { return step; }

  /// The size of a group of axes, and the place of a device in it.
  int64_t sizeOf(llvm::ArrayRef<mlir::StringAttr> axes) const;
  int64_t placeOf(int64_t device, llvm::ArrayRef<mlir::StringAttr> axes) const;
  /// The devices that differ from `device` only in `axes`, itself included, in
  /// order of their places.
  std::vector<int64_t> groupOf(int64_t device,
                               llvm::ArrayRef<mlir::StringAttr> axes) const;

  /// The value of an extent; 1 if it has no symbols.
  int64_t valueOf(const NamedExtent &extent) const;
  /// The extent of a tensor's dimension.
  int64_t extentOf(const TensorView &view, unsigned dim) const;
  /// The dimension that counts the sequences of a batch, if there is one.
  std::optional<unsigned> batchDimOf(const TensorView &view) const;
  /// The indices of dimension `dim` that `device` has, -1 for padding. A set
  /// has no indices.
  std::vector<int64_t> indicesOf(const TensorView &view, unsigned dim,
                                 int64_t device) const;

  /// The experts in the devices' slots, for the layer that runs.
  const ExpertSlots &expertSlots() const { return slots; }
  ExpertSlots &expertSlots() { return slots; }

private:
  struct Axis {
    mlir::StringAttr name;
    int64_t size = 1, stride = 1;
  };
  const Axis &axis(mlir::StringAttr name) const;

  std::vector<Axis> axes;
  int64_t devices = 1;
  std::vector<int64_t> executing;
  program::Workload step;
  ExpertSlots slots;
};

/// The indices of an extent that part `place` of `parts` has.
std::vector<int64_t> partOf(int64_t extent, program::SplitRule rule,
                            int64_t multiple, int64_t parts, int64_t place);

} // namespace autopar::interpreter

#endif // AUTOPAR_INTERPRETER_DEVICEGRID_H
