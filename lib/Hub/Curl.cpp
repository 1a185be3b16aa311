//===- Curl.cpp -----------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Curl.h"

#include "autopar/Support/SharedLibrary.h"

using namespace autopar;
using namespace autopar::hub;

static bool findAll(const SharedLibrary &library, CurlApi &api) {
  return library.find("curl_global_init", api.globalInit) &&
         library.find("curl_easy_init", api.easyInit) &&
         library.find("curl_easy_reset", api.easyReset) &&
         library.find("curl_easy_cleanup", api.easyCleanup) &&
         library.find("curl_easy_setopt", api.setOption) &&
         library.find("curl_easy_perform", api.perform) &&
         library.find("curl_easy_getinfo", api.getInfo) &&
         library.find("curl_easy_strerror", api.describe) &&
         library.find("curl_slist_append", api.append) &&
         library.find("curl_slist_free_all", api.freeList) &&
         library.find("curl_url", api.url) &&
         library.find("curl_url_set", api.urlSet) &&
         library.find("curl_url_get", api.urlGet) &&
         library.find("curl_url_cleanup", api.urlCleanup) &&
         library.find("curl_free", api.free);
}

static Result<const CurlApi *> load() {
  static CurlApi api;
  for (const char *name : {"libcurl.so.4", "libcurl-gnutls.so.4"})
    if (findAll(SharedLibrary(name), api) &&
        api.globalInit(CURL_GLOBAL_DEFAULT) == CURLE_OK)
      return &api;
  return Error{"", "cannot load libcurl.so.4, which downloads need",
               "install libcurl 7.66 or later (Debian: libcurl4), or give the "
               "path of a config.json"};
}

Result<const CurlApi *> autopar::hub::loadCurl() {
  static const Result<const CurlApi *> loaded = load();
  return loaded;
}
