//===- RequestPrices.h - Requests at once, in one strategy ------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_SEARCH_REQUESTPRICES_H
#define AUTOPAR_LIB_SEARCH_REQUESTPRICES_H

#include "BatchPrices.h"

#include "autopar/Serving/Server.h"

namespace autopar::search {

/// What requests of a search take where so many run at once.
class RequestPrices {
public:
  /// Arguments outlive it.
  RequestPrices(const SearchProblem &problem, const SearchTarget &target,
                cost::CompiledProgram &program);

  /// Of a step: refuses layouts as it does.
  cost::Pricer &stepPricer() { return step; }
  /// In the layout that `stepPricer` has, of so many replicas.
  void lay(const cost::Layout &layout, int64_t replicas);

  /// Of `concurrency` requests of the whole deployment.
  BatchPrice price(int64_t concurrency);

private:
  double bytesOf(const serving::ServedLoad &load);

  const SearchProblem &problem;
  cost::Pricer step;
  serving::Server server;
};

} // namespace autopar::search

#endif // AUTOPAR_LIB_SEARCH_REQUESTPRICES_H
