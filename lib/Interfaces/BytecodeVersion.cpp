//===- BytecodeVersion.cpp ------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Interfaces/BytecodeVersion.h"

using namespace autopar;
using namespace mlir;

void VersionedBytecode::writeVersion(DialectBytecodeWriter &writer) const {
  auto wanted = writer.getDialectVersion(getDialect()->getNamespace());
  writer.writeVarInt(succeeded(wanted)
                         ? static_cast<const BytecodeVersion *>(*wanted)->number
                         : BytecodeVersion::current);
}

std::unique_ptr<DialectVersion>
VersionedBytecode::readVersion(DialectBytecodeReader &reader) const {
  uint64_t number;
  if (failed(reader.readVarInt(number)))
    return nullptr;
  if (number <= BytecodeVersion::current) {
    // Names of ops are looked up after the version of their dialect is known,
    // so that earlier ops must be registered now.
    if (const auto *earlier =
            getDialect()->getRegisteredInterface<EarlierOps>())
      earlier->registerOps(*getDialect(), number);
    return std::make_unique<BytecodeVersion>(number);
  }
  reader.emitError() << "is of version " << number << " of dialect '"
                     << getDialect()->getNamespace()
                     << "'; this autopar reads up to "
                     << BytecodeVersion::current;
  return nullptr;
}

LogicalResult
VersionedBytecode::upgradeFromVersion(Operation *top,
                                      const DialectVersion &version) const {
  if (const auto *earlier = getDialect()->getRegisteredInterface<EarlierOps>())
    earlier->upgrade(top, static_cast<const BytecodeVersion &>(version).number);
  return success();
}
