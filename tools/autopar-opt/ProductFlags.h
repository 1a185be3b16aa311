//===- ProductFlags.h - --shard-tp, --estimate and others -------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_TOOLS_AUTOPAROPT_PRODUCTFLAGS_H
#define AUTOPAR_TOOLS_AUTOPAROPT_PRODUCTFLAGS_H

#include "autopar/Pipelines/Pipelines.h"

namespace autopar {

/// The flags of `autopar-opt` that stand for passes. They exist beside all of
/// mlir-opt's own flags, which `--help-hidden` shows.
class ProductFlags {
public:
  /// Registers the flags. It must be called before the command line is parsed.
  ProductFlags();
  ~ProductFlags();

  /// Hides the flags that others registered, except in `--help-hidden`.
  void hideOthers() const;

  /// Returns the first lines of `--help`.
  static llvm::StringRef overview();

  /// Appends the passes for which the flags ask.
  mlir::LogicalResult addPasses(mlir::PassManager &pm) const;

  /// Returns whether the user trusts files of bytecode.
  bool trustsBytecode() const;

  /// Returns whether the report goes to `file`, where the IR would overwrite
  /// it.
  bool reportsTo(llvm::StringRef file) const;

  /// Returns whether the flags ask for any pass.
  bool addsPasses() const;

private:
  struct Flags;
  std::unique_ptr<Flags> flags;
};

} // namespace autopar

#endif // AUTOPAR_TOOLS_AUTOPAROPT_PRODUCTFLAGS_H
