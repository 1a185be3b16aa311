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

/// The flags of `autopar-opt` that stand for passes. They coexist with all of
/// mlir-opt's own, which `--help-hidden` shows.
class ProductFlags {
public:
  /// Registers the flags; call it before the command line is parsed.
  ProductFlags();
  ~ProductFlags();

  /// Hides flags that others registered, except in `--help-hidden`.
  void hideOthers() const;

  /// The first lines of `--help`.
  static llvm::StringRef overview();

  /// Appends the passes of the flags.
  mlir::LogicalResult addPasses(mlir::PassManager &pm) const;

  /// Whether the user trusts files of bytecode.
  bool trustsBytecode() const;

  /// Whether the report goes to `file`, where the IR would overwrite it.
  bool reportsTo(llvm::StringRef file) const;

  /// Whether the flags ask for any pass.
  bool addsPasses() const;

private:
  struct Flags;
  std::unique_ptr<Flags> flags;
};

} // namespace autopar

#endif // AUTOPAR_TOOLS_AUTOPAROPT_PRODUCTFLAGS_H
