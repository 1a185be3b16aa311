//===- Events.h - Answers that come in parts --------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_SERVER_EVENTS_H
#define AUTOPAR_LIB_SERVER_EVENTS_H

#include "autopar/Server/Problem.h"

namespace autopar::server {

/// Returns progress as an event of a stream: the name of the work, the finished
/// number and the total number.
std::string progressEvent(const std::vector<std::string> &texts);
/// Returns the event that ends a stream: the answer or the problem.
std::string resultEvent(const HttpResponse &response);

/// Returns the problem with status 429: too much is asked for at the same time.
Problem busy(std::string why);

} // namespace autopar::server

#endif // AUTOPAR_LIB_SERVER_EVENTS_H
