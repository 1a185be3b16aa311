//===- SharedLibrary.h - Libraries that few need ----------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_SUPPORT_SHAREDLIBRARY_H
#define AUTOPAR_SUPPORT_SHAREDLIBRARY_H

#include <string>

namespace autopar {

/// A library that is loaded when something needs it, and stays.
class SharedLibrary {
public:
  /// That of `name`, as the loader finds it: "libzip.so.4".
  explicit SharedLibrary(const std::string &name);

  /// Sets `function` to what the library calls `name`. False where it has none,
  /// or there is no library.
  template <typename Function>
  bool find(const char *name, Function &function) const {
    function = reinterpret_cast<Function>(address(name));
    return function != nullptr;
  }

private:
  void *address(const char *name) const;

  void *handle;
};

} // namespace autopar

#endif // AUTOPAR_SUPPORT_SHAREDLIBRARY_H
