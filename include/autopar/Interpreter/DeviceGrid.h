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
  /// Without a mesh there is one device. Errors are emitted: a size left open,
  /// experts in no slots.
  static mlir::FailureOr<DeviceGrid> create(mlir::ModuleOp module,
                                            const program::Workload &workload);

  int64_t size() const { return devices; }
  /// Those that execute, in order: all, those at one place of an axis, or those
  /// that have copies of a weight.
  llvm::ArrayRef<int64_t> active() const { return executing; }
  void enter(mlir::StringAttr axis, int64_t place);
  void enter(std::vector<int64_t> some) { executing = std::move(some); }
  const program::Workload &workload() const { return step; }

  /// Of a group of axes: its size, and where in it a device is.
  int64_t sizeOf(llvm::ArrayRef<mlir::StringAttr> axes) const;
  int64_t placeOf(int64_t device, llvm::ArrayRef<mlir::StringAttr> axes) const;
  /// The devices that differ from `device` in `axes` alone, itself included, in
  /// order of their places.
  std::vector<int64_t> groupOf(int64_t device,
                               llvm::ArrayRef<mlir::StringAttr> axes) const;

  /// The value of an extent; 1 where it names nothing.
  int64_t valueOf(const NamedExtent &extent) const;
  /// Of a tensor's dimension.
  int64_t extentOf(const TensorView &view, unsigned dim) const;
  /// The dimension that has the sequences of a batch, where one has.
  std::optional<unsigned> batchDimOf(const TensorView &view) const;
  /// The indices of dimension `dim` that `device` has, -1 of padding. A set has
  /// no indices.
  std::vector<int64_t> indicesOf(const TensorView &view, unsigned dim,
                                 int64_t device) const;

  /// What devices have of experts, in the layer that runs.
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
