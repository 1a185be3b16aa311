//===- MemoryFile.h - Input that readers of paths can open ------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_FUZZ_MEMORYFILE_H
#define AUTOPAR_FUZZ_MEMORYFILE_H

#include <cstdlib>
#include <string>
#include <string_view>
#include <sys/mman.h>
#include <unistd.h>

namespace autopar::fuzz {

/// The path of a file in memory that holds `text`; the next call replaces it.
inline std::string memoryFile(std::string_view text) {
  static const int file = memfd_create("input", 0);
  if (ftruncate(file, 0) != 0 ||
      pwrite(file, text.data(), text.size(), 0) != ssize_t(text.size()))
    std::abort();
  return "/proc/self/fd/" + std::to_string(file);
}

} // namespace autopar::fuzz

#endif // AUTOPAR_FUZZ_MEMORYFILE_H
