//===- Phrases.h - Phrases of reports for a terminal ------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_WRITE_PHRASES_H
#define AUTOPAR_WRITE_PHRASES_H

#include "autopar/Report/Report.h"

namespace autopar::writing {

/// Describes the step of a report: "prefill of 1 x 2,048 tokens".
std::string stepText(const report::Report &report);
/// Describes the load of a service: "4 requests/s, prompts of 2000 tokens,
/// output of 300 tokens".
std::string serviceText(const report::ServiceReport &service);
/// Returns which tokens the throughput of a report counts: "prompt", "output",
/// "trained".
std::string_view tokenKind(const report::Report &report);
/// Describes the devices of a report: "on 8 of 16 devices of h100-sxm-8 x 2".
std::string machineText(const report::Report &report);
/// Returns the axes of a report's mesh with their sizes: "dp 2", "tp 8".
std::vector<std::string> meshText(const report::Report &report);
/// Returns the axes of a report's mesh as one text: "dp 2, tp 8"; "1 device" if
/// there are no axes.
std::string meshLine(const report::Report &report);
/// Returns a rate as text: "12,345" if it is large, else "12.3".
std::string formatRate(double rate);

} // namespace autopar::writing

#endif // AUTOPAR_WRITE_PHRASES_H
