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

/// Progress as an event of a stream: the work, the finished and the total
/// number.
std::string progressEvent(const std::vector<std::string> &texts);
/// The answer, or the problem, that ends a stream.
std::string resultEvent(const HttpResponse &response);

/// 429: too much is asked for at once.
Problem busy(std::string why);

} // namespace autopar::server

#endif // AUTOPAR_LIB_SERVER_EVENTS_H
