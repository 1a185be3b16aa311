//===- NotAModel.h - What is given where a config should be -----*- C++ -*-===//
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

/// Of a file that holds something else than a config, what to do with it.
std::optional<Error> refuseFile(const std::string &path);

/// Of a directory without a config.json, what may be meant.
Error refuseDirectory(const std::string &path);

} // namespace autopar::hub

#endif // AUTOPAR_LIB_HUB_NOTAMODEL_H
