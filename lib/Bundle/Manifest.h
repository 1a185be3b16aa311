//===- Manifest.h - What a bundle says of itself -------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_BUNDLE_MANIFEST_H
#define AUTOPAR_LIB_BUNDLE_MANIFEST_H

#include "autopar/Bundle/Bundle.h"

namespace autopar::bundle {

inline constexpr const char *manifestName = "manifest.json";

/// SHA-256, in hexadecimal.
std::string hashOf(const std::string &text);
/// `autopar.bundle/1`.
std::string writeManifest(const Bundle &bundle);
/// Fills all but the texts of `bundle.files`, which are there, and whose
/// hashes are compared. Errors name `file`.
std::optional<Error> readManifest(const std::string &text,
                                  const std::string &file, Bundle &bundle);

/// This program's.
std::string ownVersion();
std::string llvmVersion();

} // namespace autopar::bundle

#endif // AUTOPAR_LIB_BUNDLE_MANIFEST_H
