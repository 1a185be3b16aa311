//===- SearchRequest.h - What the command line searches ---------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_TOOLS_AUTOPAR_SEARCHREQUEST_H
#define AUTOPAR_TOOLS_AUTOPAR_SEARCHREQUEST_H

#include "ModelCommands.h"

#include "autopar/Session/Session.h"

namespace autopar {

/// What a search is asked for. Flags of machines, runtimes and formats may have
/// several values, "a,b": each combination is a variant. Errors without a
/// message have been printed.
Result<SearchRequest> readSearchRequest(const SearchArgument &search,
                                        PlanFlags &flags,
                                        const PlanValues &values);

} // namespace autopar

#endif // AUTOPAR_TOOLS_AUTOPAR_SEARCHREQUEST_H
