//===- ZipApi.h - libzip, loaded when it is needed -----------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_BUNDLE_ZIPAPI_H
#define AUTOPAR_LIB_BUNDLE_ZIPAPI_H

#include "autopar/Support/Result.h"

#include <zip.h>

namespace autopar::bundle {

/// The functions of libzip that bundles use. As with libcurl, only who writes
/// or reads one needs the library.
struct ZipApi {
  decltype(&zip_source_buffer_create) createBuffer;
  decltype(&zip_source_keep) keepSource;
  decltype(&zip_source_free) freeSource;
  decltype(&zip_source_open) openSource;
  decltype(&zip_source_read) readSource;
  decltype(&zip_source_close) closeSource;
  decltype(&zip_open_from_source) open;
  decltype(&zip_close) close;
  decltype(&zip_discard) discard;
  decltype(&zip_file_add) add;
  decltype(&zip_file_set_dostime) setTime;
  decltype(&zip_set_file_compression) setCompression;
  decltype(&zip_get_num_entries) count;
  decltype(&zip_stat_index) stat;
  decltype(&zip_fopen_index) openFile;
  decltype(&zip_fread) read;
  decltype(&zip_fclose) closeFile;
  decltype(&zip_error_init) initError;
  decltype(&zip_error_fini) endError;
  decltype(&zip_error_strerror) describe;
  decltype(&zip_strerror) describeArchive;
};

/// Loads libzip, once.
Result<const ZipApi *> loadZip();

} // namespace autopar::bundle

#endif // AUTOPAR_LIB_BUNDLE_ZIPAPI_H
