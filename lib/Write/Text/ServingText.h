//===- ServingText.h - Services, to read ------------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_WRITE_TEXT_SERVINGTEXT_H
#define AUTOPAR_LIB_WRITE_TEXT_SERVINGTEXT_H

#include "autopar/Report/Deployment.h"

namespace autopar::writing {

/// The section of a report, with a blank line before it.
std::string servingText(const report::ServingReport &serving);
/// The section of a brief report: the requests that are served, and their
/// times.
std::string servingAnswer(const report::ServingReport &serving);

/// The section about the pools of a deployment.
std::string poolsText(const report::PoolsReport &pools);

} // namespace autopar::writing

#endif // AUTOPAR_LIB_WRITE_TEXT_SERVINGTEXT_H
