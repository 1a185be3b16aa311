//===- PlanTable.h - Plans, machines and models in a table ------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_REPORT_PLANTABLE_H
#define AUTOPAR_REPORT_PLANTABLE_H

#include "autopar/Report/Report.h"

namespace autopar::report {

/// One row of a table of plans: what was asked, and the answer.
struct PlanTableRow {
  /// The texts that the user wrote; "" for the default.
  std::string model, hardware, plan;
  /// The report; absent if the estimate was refused, in which case `refusal` is
  /// the reason.
  std::optional<Report> report;
  std::string refusal;
};

} // namespace autopar::report

#endif // AUTOPAR_REPORT_PLANTABLE_H
