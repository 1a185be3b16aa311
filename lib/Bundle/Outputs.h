//===- Outputs.h - An estimate in memory ---------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_BUNDLE_OUTPUTS_H
#define AUTOPAR_LIB_BUNDLE_OUTPUTS_H

#include "autopar/Bundle/Bundle.h"

namespace autopar::bundle {

/// Makes the reports about the module in `text`: report.json, report.txt and,
/// for a single plan, plan.json. Files are read from the enclosing scope.
Result<std::map<std::string, std::string>>
estimateAll(const std::string &text, const Bundle::Choice &choice);

} // namespace autopar::bundle

#endif // AUTOPAR_LIB_BUNDLE_OUTPUTS_H
