//===- BytecodeVersion.h - Which text bytecode holds ------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_INTERFACES_BYTECODEVERSION_H
#define AUTOPAR_INTERFACES_BYTECODEVERSION_H

#include "mlir/Bytecode/BytecodeImplementation.h"

namespace autopar {

/// The version of all dialects, counted up when what a file says would read
/// differently. An older file is upgraded after it was read; a newer one is an
/// error. The first is 1.
struct BytecodeVersion : mlir::DialectVersion {
  static constexpr uint64_t current = 12;

  explicit BytecodeVersion(uint64_t number) : number(number) {}
  uint64_t number;
};

/// Writes the version of a dialect into bytecode and reads it. Attributes and
/// types are in bytecode as text.
class VersionedBytecode : public mlir::BytecodeDialectInterface {
public:
  explicit VersionedBytecode(mlir::Dialect *dialect)
      : BytecodeDialectInterface(dialect) {}

  void writeVersion(mlir::DialectBytecodeWriter &writer) const override;
  std::unique_ptr<mlir::DialectVersion>
  readVersion(mlir::DialectBytecodeReader &reader) const override;
  mlir::LogicalResult
  upgradeFromVersion(mlir::Operation *top,
                     const mlir::DialectVersion &version) const override;
};

/// Ops that a dialect had in files of earlier versions, and that another one
/// has since: that one adds this to the former, which knows nothing of it.
class EarlierOps : public mlir::DialectInterface::Base<EarlierOps> {
public:
  EarlierOps(mlir::Dialect *dialect) : Base(dialect) {}

  /// Makes `dialect` know the ops that it had in a file of `version`.
  virtual void registerOps(mlir::Dialect &dialect, uint64_t version) const = 0;
  /// Replaces those that are in `top` by what they are now.
  virtual void upgrade(mlir::Operation *top, uint64_t version) const = 0;
};

/// The version of `dialect` in the file that `bytecode` reads or writes.
template <typename Bytecode>
uint64_t versionOf(Bytecode &bytecode, llvm::StringRef dialect) {
  auto version = bytecode.getDialectVersion(dialect);
  return mlir::succeeded(version)
             ? static_cast<const BytecodeVersion *>(*version)->number
             : BytecodeVersion::current;
}

} // namespace autopar

#endif // AUTOPAR_INTERFACES_BYTECODEVERSION_H
