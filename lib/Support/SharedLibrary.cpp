//===- SharedLibrary.cpp --------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Support/SharedLibrary.h"

#include <dlfcn.h>

using namespace autopar;

SharedLibrary::SharedLibrary(const std::string &name)
    : handle(dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) {}

void *SharedLibrary::address(const char *name) const {
  return handle ? dlsym(handle, name) : nullptr;
}
