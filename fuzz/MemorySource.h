//===- MemorySource.h - Checkpoints in memory -------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_FUZZ_MEMORYSOURCE_H
#define AUTOPAR_FUZZ_MEMORYSOURCE_H

#include "autopar/Checkpoint/ByteSource.h"

#include <string_view>

namespace autopar::fuzz {

/// Bytes in memory. Reading beyond them breaks the contract of readers.
class MemorySource : public checkpoint::ByteSource {
public:
  MemorySource(std::string name, std::string_view bytes)
      : file(std::move(name)), bytes(bytes) {}

  const std::string &name() const override { return file; }
  uint64_t size() const override { return bytes.size(); }
  Result<std::string> read(uint64_t offset, uint64_t count) override {
    if (offset > bytes.size() || count > bytes.size() - offset)
      __builtin_trap();
    return std::string(bytes.substr(offset, count));
  }

private:
  std::string file;
  std::string_view bytes;
};

} // namespace autopar::fuzz

#endif // AUTOPAR_FUZZ_MEMORYSOURCE_H
