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

/// SHA-256, in hexadecimal.
std::string hashOf(const std::string &text);
/// `autopar.bundle/1`.
std::string writeManifest(const Bundle &bundle);
/// Fills all but the texts of `bundle.files`, which are there, and whose
/// hashes are compared. Errors name `file`.
std::optional<Error> readManifest(const std::string &text,
                                  const std::string &file, Bundle &bundle);

/// The versions of this program.
std::string ownVersion();
std::string llvmVersion();

} // namespace autopar::bundle

#endif // AUTOPAR_LIB_BUNDLE_MANIFEST_H
