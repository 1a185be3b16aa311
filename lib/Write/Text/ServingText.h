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
/// The part of it that a brief report has: what is served, and how fast.
std::string servingAnswer(const report::ServingReport &serving);

/// What the pools of a deployment do together.
std::string poolsText(const report::PoolsReport &pools);

} // namespace autopar::writing

#endif // AUTOPAR_LIB_WRITE_TEXT_SERVINGTEXT_H
