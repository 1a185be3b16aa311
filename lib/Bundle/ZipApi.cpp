//===- ZipApi.cpp ---------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ZipApi.h"

#include <dlfcn.h>

using namespace autopar;

template <typename Function>
static bool find(void *library, const char *name, Function &function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

static bool findAll(void *library, ZipApi &api) {
  return find(library, "zip_source_buffer_create", api.createBuffer) &&
         find(library, "zip_source_keep", api.keepSource) &&
         find(library, "zip_source_free", api.freeSource) &&
         find(library, "zip_source_open", api.openSource) &&
         find(library, "zip_source_read", api.readSource) &&
         find(library, "zip_source_close", api.closeSource) &&
         find(library, "zip_open_from_source", api.open) &&
         find(library, "zip_close", api.close) &&
         find(library, "zip_discard", api.discard) &&
         find(library, "zip_file_add", api.add) &&
         find(library, "zip_file_set_dostime", api.setTime) &&
         find(library, "zip_set_file_compression", api.setCompression) &&
         find(library, "zip_get_num_entries", api.count) &&
         find(library, "zip_stat_index", api.stat) &&
         find(library, "zip_fopen_index", api.openFile) &&
         find(library, "zip_fread", api.read) &&
         find(library, "zip_fclose", api.closeFile) &&
         find(library, "zip_error_init", api.initError) &&
         find(library, "zip_error_fini", api.endError) &&
         find(library, "zip_error_strerror", api.describe) &&
         find(library, "zip_strerror", api.describeArchive);
}

static Result<const ZipApi *> load() {
  static ZipApi api;
  // The two have these functions alike.
  for (const char *name : {"libzip.so.4", "libzip.so.5"})
    if (void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL))
      if (findAll(library, api))
        return &api;
  return Error{"", "cannot load libzip.so.4, which bundles need",
               "install libzip 1.7 or later (Debian: libzip4)"};
}

Result<const ZipApi *> autopar::loadZip() {
  static const Result<const ZipApi *> loaded = load();
  return loaded;
}
