//===- Zip.h - Texts in a zip --------------------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_BUNDLE_ZIP_H
#define AUTOPAR_LIB_BUNDLE_ZIP_H

#include "autopar/Support/Result.h"

#include <map>
#include <string>

namespace autopar::bundle {

using Entries = std::map<std::string, std::string>;

/// Names sorted, times fixed: equal entries give equal bytes.
Result<std::string> packZip(const Entries &entries);
/// Errors name `file` and the entry; see limits::maxBundleFiles and those that
/// follow.
Result<Entries> unpackZip(const std::string &bytes, const std::string &file);

/// Whether `name` stays below where it is unpacked: plain words between "/".
bool isPlainName(const std::string &name);

} // namespace autopar::bundle

#endif // AUTOPAR_LIB_BUNDLE_ZIP_H
