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

/// Reads a table of requests, CSV or JSON lines, and returns them sorted by
/// arrival, the first at 0. Columns have our names, or those of Azure's LLM
/// inference traces, Mooncake, BurstGPT and vidur: the arrival, in seconds,
/// milliseconds (by the column's name, or in Mooncake), or as a date with a
/// time; tokens of the prompt; tokens of the output. Mooncake's hashes of
/// blocks of 512 tokens give the prefix-cache hits. Errors state the place: a
/// missing column, no row, a cell that is not a number.
Result<std::vector<Request>> readRequestTrace(const std::string &path);
Result<std::vector<Request>> parseRequestTrace(std::string text,
                                               const std::string &name);

/// Returns requests with the mean rate, the lengths, and the mean prefix-cache
/// hits of `trace`. A trace of one request has a rate of one per second.
Requests requestsOf(const std::vector<Request> &trace);

/// Draws `count` random requests from the distributions of `requests`: Poisson
/// arrivals in an open loop; in a closed loop, requests that may arrive at
/// once. The result depends only on the arguments.
std::vector<Request> drawRequests(const Requests &requests, int64_t count,
                                  uint64_t seed);

} // namespace autopar::program

#endif // AUTOPAR_PROGRAM_REQUESTTRACE_H
