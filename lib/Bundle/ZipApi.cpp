//===- ZipApi.cpp ---------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ZipApi.h"

#include "autopar/Support/SharedLibrary.h"

using namespace autopar;
using namespace autopar::bundle;

static bool findAll(const SharedLibrary &library, ZipApi &api) {
  return library.find("zip_source_buffer_create", api.createBuffer) &&
         library.find("zip_source_keep", api.keepSource) &&
         library.find("zip_source_free", api.freeSource) &&
         library.find("zip_source_open", api.openSource) &&
         library.find("zip_source_read", api.readSource) &&
         library.find("zip_source_close", api.closeSource) &&
         library.find("zip_open_from_source", api.open) &&
         library.find("zip_close", api.close) &&
         library.find("zip_discard", api.discard) &&
         library.find("zip_file_add", api.add) &&
         library.find("zip_file_set_dostime", api.setTime) &&
         library.find("zip_set_file_compression", api.setCompression) &&
         library.find("zip_get_num_entries", api.count) &&
         library.find("zip_stat_index", api.stat) &&
         library.find("zip_fopen_index", api.openFile) &&
         library.find("zip_fread", api.read) &&
         library.find("zip_fclose", api.closeFile) &&
         library.find("zip_error_init", api.initError) &&
         library.find("zip_error_fini", api.endError) &&
         library.find("zip_error_strerror", api.describe) &&
         library.find("zip_strerror", api.describeArchive);
}

static Result<const ZipApi *> load() {
  static ZipApi api;
  // The two have these functions alike.
  for (const char *name : {"libzip.so.4", "libzip.so.5"})
    if (findAll(SharedLibrary(name), api))
      return &api;
  return Error{"", "cannot load libzip.so.4, which bundles need",
               "install libzip 1.7 or later (Debian: libzip4)"};
}

Result<const ZipApi *> autopar::bundle::loadZip() {
  static const Result<const ZipApi *> loaded = load();
  return loaded;
}
