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
/// sizes of the module's symbols.
class DeviceGrid {
public:
  /// Makes the grid of a module; a module without a mesh has one device. Emits
  /// an error for an axis without a size, and for placed experts without slots.
  static mlir::FailureOr<DeviceGrid> create(mlir::ModuleOp module,
                                            const program::Workload &workload);

  int64_t size() const { return devices; }
  /// Returns the devices that execute the current op, in order: all devices,
  /// those at one position of an axis, or those that hold copies of a weight.
  llvm::ArrayRef<int64_t> active() const { return executing; }
  void enter(mlir::StringAttr axis, int64_t place);
  void enter(std::vector<int64_t> some) { executing = std::move(some); }
  const program::Workload &workload() const { return step; }

  /// Return the number of devices of a group of axes, and the position of a
  /// device in it.
  int64_t sizeOf(llvm::ArrayRef<mlir::StringAttr> axes) const;
  int64_t placeOf(int64_t device, llvm::ArrayRef<mlir::StringAttr> axes) const;
  /// Returns the devices that differ from `device` only in their positions on
  /// `axes`, in order of these positions. `device` is included.
  std::vector<int64_t> groupOf(int64_t device,
                               llvm::ArrayRef<mlir::StringAttr> axes) const;

  /// Returns the number of elements of an extent; its symbols have the sizes of
  /// the workload, and an extent without symbols gives 1.
  int64_t valueOf(const NamedExtent &extent) const;
  /// Returns the number of elements of a tensor's dimension.
  int64_t extentOf(const TensorView &view, unsigned dim) const;
  /// Returns the dimension that counts the sequences of a batch; nothing if
  /// there is none.
  std::optional<unsigned> batchDimOf(const TensorView &view) const;
  /// Returns the indices of dimension `dim` that `device` holds; -1 stands for
  /// padding. A set of routed tokens has no indices.
  std::vector<int64_t> indicesOf(const TensorView &view, unsigned dim,
                                 int64_t device) const;

  /// The experts in the slots of each device, for the layer that is being
  /// executed.
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

/// Returns the indices that part `place` of `parts` equal parts of an extent
/// holds, by the split rule.
std::vector<int64_t> partOf(int64_t extent, program::SplitRule rule,
                            int64_t multiple, int64_t parts, int64_t place);

} // namespace autopar::interpreter

#endif // AUTOPAR_INTERPRETER_DEVICEGRID_H
