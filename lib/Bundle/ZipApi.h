//===- ZipApi.h - libzip, loaded when it is needed -----------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_BUNDLE_ZIPAPI_H
#define AUTOPAR_LIB_BUNDLE_ZIPAPI_H

#include "autopar/Support/Result.h"
#include "autopar/Support/SharedLibrary.h"

#include <zip.h>

namespace autopar::bundle {

/// The functions of libzip that bundles use. They are loaded at run time, as
/// those of libcurl are, because only users who write or read a bundle need the
/// library.
struct ZipApi : LoadedFunctions {
  using LoadedFunctions::LoadedFunctions;

  AUTOPAR_LOADED(zip_source_buffer_create, createBuffer);
  AUTOPAR_LOADED(zip_source_keep, keepSource);
  AUTOPAR_LOADED(zip_source_free, freeSource);
  AUTOPAR_LOADED(zip_source_open, openSource);
  AUTOPAR_LOADED(zip_source_read, readSource);
  AUTOPAR_LOADED(zip_source_close, closeSource);
  AUTOPAR_LOADED(zip_open_from_source, open);
  AUTOPAR_LOADED(zip_close, close);
  AUTOPAR_LOADED(zip_discard, discard);
  AUTOPAR_LOADED(zip_file_add, add);
  AUTOPAR_LOADED(zip_file_set_dostime, setTime);
  AUTOPAR_LOADED(zip_set_file_compression, setCompression);
  AUTOPAR_LOADED(zip_get_num_entries, count);
  AUTOPAR_LOADED(zip_stat_index, stat);
  AUTOPAR_LOADED(zip_fopen_index, openFile);
  AUTOPAR_LOADED(zip_fread, read);
  AUTOPAR_LOADED(zip_fclose, closeFile);
  AUTOPAR_LOADED(zip_error_init, initError);
  AUTOPAR_LOADED(zip_error_fini, endError);
  AUTOPAR_LOADED(zip_error_strerror, describe);
  AUTOPAR_LOADED(zip_strerror, describeArchive);
};

/// Loads libzip at the first call; later calls return the same functions.
Result<const ZipApi *> loadZip();

} // namespace autopar::bundle

#endif // AUTOPAR_LIB_BUNDLE_ZIPAPI_H
