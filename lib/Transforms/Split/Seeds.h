//===- Seeds.h - Seeds of splits --------------------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_TRANSFORMS_SPLIT_SEEDS_H
#define AUTOPAR_LIB_TRANSFORMS_SPLIT_SEEDS_H

#include "autopar/Transforms/Split/Layouts.h"

#include "mlir/IR/BuiltinOps.h"

namespace autopar::transforms {

/// The axes over which one pass splits seeds. Splits are added to the types of
/// seeds (see `propagateSplits`). The axes of a dimension stay in the order of
/// the degrees, whatever the order of passes and of axes on the machine. Passes
/// whose order matters say so.
class Seeds {
public:
  Seeds(mlir::ModuleOp module, llvm::ArrayRef<mlir::StringAttr> axes)
      : module(module), order(orderOfAxes(module)), axes(axes) {}

  /// Whether any seed has changed.
  bool changed() const { return anyChanged; }
  /// Splits dimension `dim` of a weight, a cache or an argument by `rule`.
  void splitSource(mlir::Value value, unsigned dim, program::SplitRule rule,
                   int64_t multiple = 1);
  /// The same inside of the existing split, whatever the order of axes.
  void splitSourceInside(mlir::Value value, unsigned dim,
                         program::SplitRule rule);
  /// Splits the dimensions that count `symbol` of all weights and caches,
  /// except those that `isKept` excludes.
  void splitSources(llvm::StringRef symbol,
                    llvm::function_ref<bool(mlir::Value)> isKept = nullptr);
  /// Splits the dimensions that count `symbol` of all arguments and results of
  /// functions (without those of the model itself if `inside`) and of all
  /// values that loops carry.
  void splitBoundaries(llvm::StringRef symbol, bool inside = false);
  /// Returns `type` with dimension `dim` split over the axes that it does not
  /// use.
  mlir::Type split(mlir::Type type, unsigned dim, program::SplitRule rule,
                   int64_t multiple, bool inOrder = true);

private:
  mlir::Type split(mlir::Type type, llvm::StringRef symbol);
  void setType(mlir::Value value, mlir::Type type);

  static std::vector<std::string> orderOfAxes(mlir::ModuleOp module);

  mlir::ModuleOp module;
  std::vector<std::string> order;
  llvm::ArrayRef<mlir::StringAttr> axes;
  bool anyChanged = false;
};

/// Finds the axes `names` of the module's mesh. Emits an error if one is
/// missing; `flag` would declare it.
mlir::FailureOr<llvm::SmallVector<mlir::StringAttr>>
findAxes(mlir::ModuleOp module, llvm::ArrayRef<std::string> names,
         llvm::StringRef flag);

/// The list of an option, or `others` if it is empty.
llvm::ArrayRef<std::string> orElse(llvm::ArrayRef<std::string> names,
                                   llvm::ArrayRef<std::string> others);
/// The same for an option that may be `none`.
llvm::ArrayRef<std::string> orNone(llvm::ArrayRef<std::string> names,
                                   llvm::ArrayRef<std::string> others);

} // namespace autopar::transforms

#endif // AUTOPAR_LIB_TRANSFORMS_SPLIT_SEEDS_H
