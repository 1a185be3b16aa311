//===- HardwareFuzzer.cpp ------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The input is a chip or a system; words before its first "{" are overrides.

#include "MemoryFile.h"

#include "autopar/Hardware/Hardware.h"

#include <sstream>

using namespace autopar;
using namespace autopar::hardware;
using namespace autopar::program;

static void read(const HardwareLibrary &library, const std::string &path) {
  Result<Chip> chip = library.chip(path);
  if (chip)
    for (KernelKind kind : {KernelKind::matmul, KernelKind::scan})
      chip->curve(kind, ElementType::fp8_e4m3);
  for (int64_t nodes : {1, 3})
    if (Result<Machine> machine = library.machine(path, nodes))
      machine->devices();
  library.unusedOverride();
}

extern "C" int LLVMFuzzerTestOneInput(const char *data, size_t size) {
  std::string input(data, size);
  size_t begin = std::min(input.find('{'), size);
  std::istringstream words(input.substr(0, begin));
  std::vector<Override> overrides;
  for (std::string word; words >> word;)
    if (Result<Override> override = parseOverride(word))
      overrides.push_back(*override);
  read(HardwareLibrary(std::move(overrides)),
       fuzz::memoryFile(input.substr(begin)));
  return 0;
}
