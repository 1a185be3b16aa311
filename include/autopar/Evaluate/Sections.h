//===- Sections.h - What follows from the rest of a report ------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_EVALUATE_SECTIONS_H
#define AUTOPAR_EVALUATE_SECTIONS_H

#include "autopar/Hardware/Hardware.h"
#include "autopar/Report/Report.h"

namespace autopar::evaluation {

// Declares, for each section of a report, the function that adds it to a report
// on `machine`.
#define SECTION(Name)                                                          \
  void add##Name(report::Report &report, const hardware::Machine &machine);
#include "autopar/Report/Sections.def"

} // namespace autopar::evaluation

#endif // AUTOPAR_EVALUATE_SECTIONS_H
