//===- Curl.h - libcurl, loaded when it is needed ---------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_HUB_CURL_H
#define AUTOPAR_LIB_HUB_CURL_H

#include "autopar/Support/Result.h"

#include <curl/curl.h>

namespace autopar::hub {

/// The functions of libcurl that the hub uses. Linking it would make every
/// start of every tool five milliseconds longer, and needs it everywhere.
struct CurlApi {
  decltype(&curl_global_init) globalInit;
  decltype(&curl_easy_init) easyInit;
  decltype(&curl_easy_reset) easyReset;
  decltype(&curl_easy_cleanup) easyCleanup;
  decltype(&curl_easy_setopt) setOption;
  decltype(&curl_easy_perform) perform;
  decltype(&curl_easy_getinfo) getInfo;
  decltype(&curl_easy_strerror) describe;
  decltype(&curl_slist_append) append;
  decltype(&curl_slist_free_all) freeList;
  decltype(&curl_url) url;
  decltype(&curl_url_set) urlSet;
  decltype(&curl_url_get) urlGet;
  decltype(&curl_url_cleanup) urlCleanup;
  decltype(&curl_free) free;
};

/// Loads libcurl, once.
Result<const CurlApi *> loadCurl();

} // namespace autopar::hub

#endif // AUTOPAR_LIB_HUB_CURL_H
