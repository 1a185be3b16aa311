//===- Environment.h - The user's environment -------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_HUB_ENVIRONMENT_H
#define AUTOPAR_LIB_HUB_ENVIRONMENT_H

#include "Http.h"

namespace autopar::hub {

/// Returns the cache folder of huggingface_hub: `HF_HUB_CACHE`, else
/// `HF_HOME`/hub, else ~/.cache/huggingface/hub.
std::string hubCacheDirectory();
/// Returns whether `HF_HUB_OFFLINE` is 1, on, yes or true.
bool isOffline();
/// Reads the settings from environment variables: `HF_ENDPOINT`, the token
/// (`HF_TOKEN`, else the file `HF_TOKEN_PATH`, else `HF_HOME`/token),
/// `CURL_CA_BUNDLE` or `SSL_CERT_FILE`, and `AUTOPAR_HTTP_TIMEOUT`. Errors
/// never show the token.
Result<HttpSettings> readHttpSettings();

} // namespace autopar::hub

#endif // AUTOPAR_LIB_HUB_ENVIRONMENT_H
