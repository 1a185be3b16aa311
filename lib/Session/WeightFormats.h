//===- WeightFormats.h - Formats of weights by their names ------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_SESSION_WEIGHTFORMATS_H
#define AUTOPAR_LIB_SESSION_WEIGHTFORMATS_H

#include "autopar/Import/LoadModel.h"

namespace autopar::session {

/// Returns the weight format of the checkpoint: "bf16", "fp8",
/// "fp4" or "int4".
Result<std::string> formatOfCheckpoint(const importer::ModelRequest &request);
/// Returns the format in which units multiply weights of `format`.
ElementType unitsOf(const std::string &format);

} // namespace autopar::session

#endif // AUTOPAR_LIB_SESSION_WEIGHTFORMATS_H
