//===- NotAModel.h - Files in place of a config -----------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_HUB_NOTAMODEL_H
#define AUTOPAR_LIB_HUB_NOTAMODEL_H

#include "autopar/Support/Result.h"

#include <optional>

namespace autopar::hub {

/// Returns the error, with advice, for a file that is no config; nothing if the
/// file may be one.
std::optional<Error> refuseFile(const std::string &path);

/// Returns the error for a directory without a config.json, with suggestions.
Error refuseDirectory(const std::string &path);

} // namespace autopar::hub

#endif // AUTOPAR_LIB_HUB_NOTAMODEL_H
