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

/// One row: a question and its answer.
struct PlanTableRow {
  /// As the user wrote them; "" for the default.
  std::string model, hardware, plan;
  /// Absent if the estimate was refused; `refusal` is the reason.
  std::optional<Report> report;
  std::string refusal;
};

} // namespace autopar::report

#endif // AUTOPAR_REPORT_PLANTABLE_H
