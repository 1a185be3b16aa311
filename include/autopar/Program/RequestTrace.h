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

/// Reads a table of requests, CSV or lines of JSON, by the order of their
/// arrivals, the first at 0. Columns, of which names of others are known
/// (Azure's LLM inference traces, Mooncake, BurstGPT, vidur): when it came, in
/// seconds, milliseconds where the name or Mooncake says so, or a date with a
/// time; tokens of the prompt; tokens of the output. Mooncake's hashes of
/// blocks of 512 tokens say what of a prompt was seen before. Errors are
/// located: no column, no row, a cell that is no number.
Result<std::vector<Request>> readRequestTrace(const std::string &path);
Result<std::vector<Request>> parseRequestTrace(std::string text,
                                               const std::string &name);

/// What `trace` asks in the mean: its rate, its lengths, and what was seen
/// before. A trace of one request comes once in a second.
Requests requestsOf(const std::vector<Request> &trace);

/// `count` requests as `requests` come: an open loop's by Poisson's law, a
/// closed one's as soon as they may. The same for the same seed.
std::vector<Request> drawRequests(const Requests &requests, int64_t count,
                                  uint64_t seed);

} // namespace autopar::program

#endif // AUTOPAR_PROGRAM_REQUESTTRACE_H
