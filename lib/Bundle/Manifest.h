//===- Manifest.h - The manifest of a bundle --------------------*- C++ -*-===//
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

/// Returns the SHA-256 of `text` in hexadecimal.
std::string hashOf(const std::string &text);
/// Returns the manifest of the bundle, `autopar.bundle/1`.
std::string writeManifest(const Bundle &bundle);
/// Reads a manifest into `bundle`. The texts of `bundle.files` must be there
/// already; their hashes are compared. Errors name `file`.
std::optional<Error> readManifest(const std::string &text,
                                  const std::string &file, Bundle &bundle);

/// Return the versions of autopar and of LLVM in this program.
std::string ownVersion();
std::string llvmVersion();

} // namespace autopar::bundle

#endif // AUTOPAR_LIB_BUNDLE_MANIFEST_H
