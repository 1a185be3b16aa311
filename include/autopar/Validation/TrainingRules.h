//===- TrainingRules.h - The training runs that count -----------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_VALIDATION_TRAININGRULES_H
#define AUTOPAR_VALIDATION_TRAININGRULES_H

#include "autopar/Validation/Rules.h"
#include "autopar/Validation/TrainingRow.h"

namespace autopar::validation {

/// By each row's own columns, and by the memory of the same plan with another
/// micro-batch. Never by a time.
std::vector<RowJudgement> judgeTraining(const std::vector<TrainingRow> &rows,
                                        const RuleSet &rules);

} // namespace autopar::validation

#endif // AUTOPAR_VALIDATION_TRAININGRULES_H
