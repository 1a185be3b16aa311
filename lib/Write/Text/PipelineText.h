//===- PipelineText.h - A pipeline for a terminal and as JSON ---*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_WRITE_TEXT_PIPELINETEXT_H
#define AUTOPAR_LIB_WRITE_TEXT_PIPELINETEXT_H

#include "autopar/Report/Report.h"

#include <nlohmann/json.hpp>

namespace autopar::writing {

/// The section of a report, with a blank line before it.
std::string pipelineText(const report::Report::Pipeline &pipeline);
/// The member `schedule` of a report.
nlohmann::ordered_json writeSchedule(const report::Report::Pipeline &pipeline);

} // namespace autopar::writing

#endif // AUTOPAR_LIB_WRITE_TEXT_PIPELINETEXT_H
