//===- Seeds.h - Where splits begin -----------------------------*- C++ -*-===//
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

/// What one pass splits over: axes of a module's mesh. Splits are added to the
/// types of seeds (see `propagateSplits`); axes of a dimension stay in the
/// order in which degrees list them, whichever pass came first and however they
/// lie on the machine. Passes whose order matters say so.
class Seeds {
public:
  Seeds(mlir::ModuleOp module, llvm::ArrayRef<mlir::StringAttr> axes)
      : module(module), order(orderOfAxes(module)), axes(axes) {}

  /// Whether any seed has changed.
  bool changed() const { return anyChanged; }
  /// Splits dimension `dim` of a weight, a cache or an argument by `rule`.
  void splitSource(mlir::Value value, unsigned dim, program::SplitRule rule,
                   int64_t multiple = 1);
  /// The same inside of the split that it has, whatever that order.
  void splitSourceInside(mlir::Value value, unsigned dim,
                         program::SplitRule rule);
  /// Splits the dimensions that count `symbol` of all weights and caches but
  /// those that `isKept` says stay as they are.
  void splitSources(llvm::StringRef symbol,
                    llvm::function_ref<bool(mlir::Value)> isKept = nullptr);
  /// Splits the dimensions that count `symbol` of all values that functions
  /// take and return (but not those of the model itself, where `inside`) and
  /// that loops carry.
  void splitBoundaries(llvm::StringRef symbol, bool inside = false);
  /// `type` with dimension `dim` split over those axes that it does not use.
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

/// The axes `names` of the module's mesh; emits an error where it lacks one,
/// which `flag` would declare.
mlir::FailureOr<llvm::SmallVector<mlir::StringAttr>>
findAxes(mlir::ModuleOp module, llvm::ArrayRef<std::string> names,
         llvm::StringRef flag);

/// What an option lists, or `others` where it lists nothing.
llvm::ArrayRef<std::string> orElse(llvm::ArrayRef<std::string> names,
                                   llvm::ArrayRef<std::string> others);
/// The same of an option that may say `none`.
llvm::ArrayRef<std::string> orNone(llvm::ArrayRef<std::string> names,
                                   llvm::ArrayRef<std::string> others);

} // namespace autopar::transforms

#endif // AUTOPAR_LIB_TRANSFORMS_SPLIT_SEEDS_H
