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

/// The axes over which one pass splits seeds (weights, KV caches, arguments,
/// carried values; see `propagateSplits`). Splits are added to the types of
/// seeds. The axes of a dimension stay in the order of the degrees, whatever
/// the order of passes and of axes on the machine. A pass whose order matters
/// states that.
class Seeds {
public:
  Seeds(mlir::ModuleOp module, llvm::ArrayRef<mlir::StringAttr> axes)
      : module(module), order(orderOfAxes(module)), axes(axes) {}

  /// Whether the type of any seed has changed.
  bool changed() const { return anyChanged; }
  /// Splits dimension `dim` of a weight, a KV cache or an argument by the split
  /// rule `rule`.
  void splitSource(mlir::Value value, unsigned dim, program::SplitRule rule,
                   int64_t multiple = 1);
  /// Splits dimension `dim` inside its existing split, whatever the order of
  /// axes.
  void splitSourceInside(mlir::Value value, unsigned dim,
                         program::SplitRule rule);
  /// Splits the dimensions that count `symbol` of all weights and KV caches,
  /// except those for which `isKept` holds.
  void splitSources(llvm::StringRef symbol,
                    llvm::function_ref<bool(mlir::Value)> isKept = nullptr);
  /// Splits the dimensions that count `symbol` of all arguments and results of
  /// functions (if `inside`, except those of the model itself) and of all
  /// values that loops carry.
  void splitBoundaries(llvm::StringRef symbol, bool inside = false);
  /// Returns `type` with dimension `dim` split over the axes that the type does
  /// not use.
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

/// Returns the axes `names` of the module's mesh. If one is missing, emits an
/// error that names `flag`, with which the user would declare it.
mlir::FailureOr<llvm::SmallVector<mlir::StringAttr>>
findAxes(mlir::ModuleOp module, llvm::ArrayRef<std::string> names,
         llvm::StringRef flag);

/// Returns the list of an option, or `others` if the list is empty.
llvm::ArrayRef<std::string> orElse(llvm::ArrayRef<std::string> names,
                                   llvm::ArrayRef<std::string> others);
/// Returns the list of an option that may be `none`, or `others` if the list is
/// empty.
llvm::ArrayRef<std::string> orNone(llvm::ArrayRef<std::string> names,
                                   llvm::ArrayRef<std::string> others);

} // namespace autopar::transforms

#endif // AUTOPAR_LIB_TRANSFORMS_SPLIT_SEEDS_H
