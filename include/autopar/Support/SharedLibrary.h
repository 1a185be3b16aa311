//===- SharedLibrary.h - Libraries that few need ----------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_SUPPORT_SHAREDLIBRARY_H
#define AUTOPAR_SUPPORT_SHAREDLIBRARY_H

#include <initializer_list>
#include <optional>
#include <string>

namespace autopar {

/// A shared library that is loaded when it is needed and stays loaded.
class SharedLibrary {
public:
  /// Loads the library; the system's loader finds it by `name`: "libzip.so.4".
  explicit SharedLibrary(const std::string &name);

  /// Returns the address of the symbol `name`; null if the library or the
  /// symbol is missing.
  void *address(const char *name) const;

private:
  void *handle;
};

/// Base class for a set of functions of a library, each a member declared by
/// AUTOPAR_LOADED.
class LoadedFunctions {
public:
  explicit LoadedFunctions(const SharedLibrary &library) : library(library) {}

  /// Whether the library has all functions of the set.
  bool areAll() const { return !lacksAny; }

protected:
  template <typename Function>
  Function find(const char *name) {
    void *address = library.address(name);
    lacksAny |= !address;
    return reinterpret_cast<Function>(address);
  }

private:
  SharedLibrary library;
  bool lacksAny = false;
};

/// Declares the member `name`, a pointer to the function `symbol`.
#define AUTOPAR_LOADED(symbol, name)                                           \
  decltype (&(symbol))(name) = find<decltype(&(symbol))>(#symbol)

/// Returns the functions of the first library in `names` that has all of them;
/// null if none has.
template <typename Functions>
const Functions *loadFirst(std::initializer_list<const char *> names) {
  static std::optional<Functions> loaded;
  for (const char *name : names)
    if (loaded.emplace(SharedLibrary(name)).areAll())
      return &*loaded;
  return nullptr;
}

} // namespace autopar

#endif // AUTOPAR_SUPPORT_SHAREDLIBRARY_H
