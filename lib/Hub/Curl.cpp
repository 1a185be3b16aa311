//===- Curl.cpp -----------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Curl.h"

using namespace autopar;
using namespace autopar::hub;

static Result<const CurlApi *> load() {
  const auto *api = loadFirst<CurlApi>({"libcurl.so.4", "libcurl-gnutls.so.4"});
  if (api && api->globalInit(CURL_GLOBAL_DEFAULT) == CURLE_OK)
    return api;
  return Error{"", "cannot load libcurl.so.4, which downloads need",
               "install libcurl 7.66 or later (Debian: libcurl4), or give the "
               "path of a config.json"};
}

Result<const CurlApi *> autopar::hub::loadCurl() {
  static const Result<const CurlApi *> loaded = load();
  return loaded;
}
