//===- ReportCells.h - Cells of a validation's tables -----------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_VALIDATION_REPORTCELLS_H
#define AUTOPAR_LIB_VALIDATION_REPORTCELLS_H

#include "autopar/Validation/ValidationReport.h"

namespace autopar::validation {

using Cells = std::vector<std::string>;

Cells errorHead();
/// The errors of all points.
Cells errorCells(const std::string &name, const ErrorFigures &figures);
/// All, then the groups of each table under a row of one cell.
std::vector<Cells> errorRows(const ErrorSection &section);

Cells worstHead();
std::vector<Cells> worstRows(const ValidationReport &report);

/// The name, the rows and the effect of each rule.
std::vector<Cells> ruleRows(const ValidationReport &report);

/// A line about each kind of row, and one about repeats of one version and of
/// any.
std::vector<std::string> countLines(const ValidationReport &report);
std::vector<std::string> noiseLines(const ValidationReport &report);
/// One about each kind of models of which several plans were trained.
std::vector<std::string> orderLines(const ValidationReport &report);
/// "" where no row tells.
std::string saturationLine(const ValidationReport &report);

/// Whether a section is shown with tables of its own, in one table with others,
/// or not at all.
enum class SectionPlace : uint8_t { own, apart, hidden };
SectionPlace placeOf(const ErrorSection &section,
                     const ValidationReport &report);

} // namespace autopar::validation

#endif // AUTOPAR_LIB_VALIDATION_REPORTCELLS_H
