//===- RequestTrace.h - Requests as they once came --------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_PROGRAM_REQUESTTRACE_H
#define AUTOPAR_PROGRAM_REQUESTTRACE_H

#include "autopar/Program/Requests.h"

namespace autopar::program {

/// Reads a table of requests, CSV or JSON lines, sorted by arrival, the first
/// at 0. Columns, also by their names in Azure's LLM inference traces,
/// Mooncake, BurstGPT and vidur: the arrival, in seconds, milliseconds (by the
/// name, or in Mooncake), or a date with a time; tokens of the prompt; tokens
/// of the output. Mooncake's hashes of blocks of 512 tokens give the
/// prefix-cache hits. Errors are located: a missing column, no row, a cell that
/// is no number.
Result<std::vector<Request>> readRequestTrace(const std::string &path);
Result<std::vector<Request>> parseRequestTrace(std::string text,
                                               const std::string &name);

/// The mean of `trace`: its rate, lengths, and prefix-cache hits. A trace of
/// one request has a rate of one per second.
Requests requestsOf(const std::vector<Request> &trace);

/// Draws `count` requests of `requests`: Poisson arrivals in an open loop; in a
/// closed loop requests arrive as soon as they may. Deterministic for a seed.
std::vector<Request> drawRequests(const Requests &requests, int64_t count,
                                  uint64_t seed);

} // namespace autopar::program

#endif // AUTOPAR_PROGRAM_REQUESTTRACE_H
