//===- NodeWords.h - Names of the graph's ops -------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_SPREADSHEET_NODEWORDS_H
#define AUTOPAR_LIB_SPREADSHEET_NODEWORDS_H

#include "autopar/Cost/Graph.h"

namespace autopar::spreadsheet {

/// Returns what a node counts, such as "pairs of queries and keys", for people
/// who look at its cell.
const char *wordOf(cost::Op op);

} // namespace autopar::spreadsheet

#endif // AUTOPAR_LIB_SPREADSHEET_NODEWORDS_H
