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

/// The version of all dialects in bytecode files. It grows when the text of a
/// file would be read differently. An older file is upgraded after it is read;
/// a newer one is an error. The first version is 1.
struct BytecodeVersion : mlir::DialectVersion {
  static constexpr uint64_t current = 13;

  explicit BytecodeVersion(uint64_t number) : number(number) {}
  uint64_t number;
};

/// Writes and reads the version of a dialect in bytecode. Attributes and types
/// are stored as text.
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

/// A dialect interface for ops that belonged to a dialect in files of earlier
/// versions and belong to another one now. The new owner attaches it to the old
/// dialect, which knows nothing of the move.
class EarlierOps : public mlir::DialectInterface::Base<EarlierOps> {
public:
  EarlierOps(mlir::Dialect *dialect) : Base(dialect) {}

  /// Registers in `dialect` the ops that it had in a file of `version`.
  virtual void registerOps(mlir::Dialect &dialect, uint64_t version) const = 0;
  /// Replaces the earlier ops in `top` by their present form.
  virtual void upgrade(mlir::Operation *top, uint64_t version) const = 0;
};

/// Returns the version of `dialect` in the file that `bytecode` reads or
/// writes.
template <typename Bytecode>
uint64_t versionOf(Bytecode &bytecode, llvm::StringRef dialect) {
  auto version = bytecode.getDialectVersion(dialect);
  return mlir::succeeded(version)
             ? static_cast<const BytecodeVersion *>(*version)->number
             : BytecodeVersion::current;
}

} // namespace autopar

#endif // AUTOPAR_INTERFACES_BYTECODEVERSION_H
