//===- CsvText.h - Cells of CSV ---------------------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_SUPPORT_CSVTEXT_H
#define AUTOPAR_SUPPORT_CSVTEXT_H

#include <string>

namespace autopar {

/// Returns `text` as a cell of CSV (RFC 4180), with quotes if they are needed.
std::string csvCell(const std::string &text);

} // namespace autopar

#endif // AUTOPAR_SUPPORT_CSVTEXT_H
