//===- RequestPrices.h - Requests at once, in one strategy ------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_SEARCH_REQUESTPRICES_H
#define AUTOPAR_LIB_SEARCH_REQUESTPRICES_H

#include "BatchPrices.h"

#include "autopar/Serving/QueueModel.h"

namespace autopar::search {

/// Prices a closed loop of requests at a given concurrency.
class RequestPrices {
public:
  /// The arguments must outlive the object.
  RequestPrices(const SearchProblem &problem, const SearchTarget &target,
                cost::CompiledProgram &program);

  /// Returns the pricer of the decode step, which refuses the same layouts as
  /// prices of requests do.
  cost::Pricer &stepPricer() { return step; }
  /// Takes over the layout of `stepPricer`, which has `replicas` replicas.
  void lay(const cost::Layout &layout, int64_t replicas);

  /// Returns the price if the whole deployment has `concurrency` requests at a
  /// time.
  BatchPrice price(int64_t concurrency);

private:
  double bytesOf(const serving::ServedLoad &load);

  const SearchProblem &problem;
  cost::Pricer step;
  serving::QueueModel server;
};

} // namespace autopar::search

#endif // AUTOPAR_LIB_SEARCH_REQUESTPRICES_H
