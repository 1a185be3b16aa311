//===- Curl.cpp -----------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Curl.h"

#include <dlfcn.h>

using namespace autopar;

template <typename Function>
static bool find(void *library, const char *name, Function &function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

static bool findAll(void *library, CurlApi &api) {
  return find(library, "curl_global_init", api.globalInit) &&
         find(library, "curl_easy_init", api.easyInit) &&
         find(library, "curl_easy_reset", api.easyReset) &&
         find(library, "curl_easy_cleanup", api.easyCleanup) &&
         find(library, "curl_easy_setopt", api.setOption) &&
         find(library, "curl_easy_perform", api.perform) &&
         find(library, "curl_easy_getinfo", api.getInfo) &&
         find(library, "curl_easy_strerror", api.describe) &&
         find(library, "curl_slist_append", api.append) &&
         find(library, "curl_slist_free_all", api.freeList) &&
         find(library, "curl_url", api.url) &&
         find(library, "curl_url_set", api.urlSet) &&
         find(library, "curl_url_get", api.urlGet) &&
         find(library, "curl_url_cleanup", api.urlCleanup) &&
         find(library, "curl_free", api.free);
}

static Result<const CurlApi *> load() {
  static CurlApi api;
  for (const char *name : {"libcurl.so.4", "libcurl-gnutls.so.4"}) {
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (library && findAll(library, api) &&
        api.globalInit(CURL_GLOBAL_DEFAULT) == CURLE_OK)
      return &api;
  }
  return Error{"", "cannot load libcurl.so.4, which downloads need",
               "install libcurl 7.66 or later (Debian: libcurl4), or give the "
               "path of a config.json"};
}

Result<const CurlApi *> autopar::loadCurl() {
  static const Result<const CurlApi *> loaded = load();
  return loaded;
}
