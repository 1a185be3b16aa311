//===- Curl.h - libcurl, loaded when it is needed ---------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_HUB_CURL_H
#define AUTOPAR_LIB_HUB_CURL_H

#include "autopar/Support/Result.h"
#include "autopar/Support/SharedLibrary.h"

#include <curl/curl.h>

namespace autopar::hub {

/// The functions of libcurl that the hub uses. They are loaded at run time: if
/// the library were linked, each tool would start five milliseconds later, and
/// would need the library everywhere.
struct CurlApi : LoadedFunctions {
  using LoadedFunctions::LoadedFunctions;

  AUTOPAR_LOADED(curl_global_init, globalInit);
  AUTOPAR_LOADED(curl_easy_init, easyInit);
  AUTOPAR_LOADED(curl_easy_reset, easyReset);
  AUTOPAR_LOADED(curl_easy_cleanup, easyCleanup);
  AUTOPAR_LOADED(curl_easy_setopt, setOption);
  AUTOPAR_LOADED(curl_easy_perform, perform);
  AUTOPAR_LOADED(curl_easy_getinfo, getInfo);
  AUTOPAR_LOADED(curl_easy_strerror, describe);
  AUTOPAR_LOADED(curl_slist_append, append);
  AUTOPAR_LOADED(curl_slist_free_all, freeList);
  AUTOPAR_LOADED(curl_url, url);
  AUTOPAR_LOADED(curl_url_set, urlSet);
  AUTOPAR_LOADED(curl_url_get, urlGet);
  AUTOPAR_LOADED(curl_url_cleanup, urlCleanup);
  AUTOPAR_LOADED(curl_free, free);
};

/// Loads libcurl at the first call; later calls return the same functions.
Result<const CurlApi *> loadCurl();

} // namespace autopar::hub

#endif // AUTOPAR_LIB_HUB_CURL_H
