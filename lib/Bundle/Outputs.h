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

/// The reports of the module that `text` is: report.json, report.txt and, where
/// it is of one plan, plan.json. Files are those of the scope around.
Result<std::map<std::string, std::string>>
estimateAll(const std::string &text, const Bundle::Choice &choice);

} // namespace autopar::bundle

#endif // AUTOPAR_LIB_BUNDLE_OUTPUTS_H
