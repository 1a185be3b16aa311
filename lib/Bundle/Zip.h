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

/// Packs entries, sorted by name and with fixed times, so that equal entries
/// give equal bytes.
Result<std::string> packZip(const Entries &entries);
/// Unpacks an archive. Errors name `file` and the entry; see
/// limits::maxBundleFiles and the limits after it.
Result<Entries> unpackZip(const std::string &bytes, const std::string &file);

/// Returns whether the path `name` stays below the folder in which it is
/// unpacked: it consists of plain words between "/".
bool isPlainName(const std::string &name);

} // namespace autopar::bundle

#endif // AUTOPAR_LIB_BUNDLE_ZIP_H
