//===- ServingText.h - Services, to read ------------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_REPORT_SERVINGTEXT_H
#define AUTOPAR_LIB_REPORT_SERVINGTEXT_H

#include "autopar/Report/Deployment.h"

namespace autopar::report {

/// The section of a report, with a blank line before it.
std::string servingText(const ServingReport &serving);
/// The part of it that a brief report has: what is served, and how fast.
std::string servingAnswer(const ServingReport &serving);

/// What the pools of a deployment do together.
std::string poolsText(const PoolsReport &pools);

} // namespace autopar::report

#endif // AUTOPAR_LIB_REPORT_SERVINGTEXT_H
