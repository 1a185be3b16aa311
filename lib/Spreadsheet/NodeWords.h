//===- NodeWords.h - What ops of the graph are called --------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_SPREADSHEET_NODEWORDS_H
#define AUTOPAR_LIB_SPREADSHEET_NODEWORDS_H

#include "autopar/Cost/Graph.h"

namespace autopar {

/// "pairs of queries and keys", for people who look at a cell.
const char *wordOf(Op op);

} // namespace autopar

#endif // AUTOPAR_LIB_SPREADSHEET_NODEWORDS_H
