//===- ZipApi.cpp ---------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ZipApi.h"

using namespace autopar;
using namespace autopar::bundle;

static Result<const ZipApi *> load() {
  // Both versions of libzip have the functions that are used here, with the
  // same types.
  if (const auto *api = loadFirst<ZipApi>({"libzip.so.4", "libzip.so.5"}))
    return api;
  return Error{"", "cannot load libzip.so.4, which bundles need",
               "install libzip 1.7 or later (Debian: libzip4)"};
}

Result<const ZipApi *> autopar::bundle::loadZip() {
  static const Result<const ZipApi *> loaded = load();
  return loaded;
}
