//===- Statistics.cpp -----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Validation/Statistics.h"

#include <algorithm>

using namespace autopar;
using namespace autopar::validation;

double autopar::validation::quantile(std::vector<double> values, double share) {
  if (values.empty())
    return 0;
  std::sort(values.begin(), values.end());
  double position = share * double(values.size() - 1);
  size_t below = size_t(position);
  size_t above = std::min(below + 1, values.size() - 1);
  return values[below] +
         (position - double(below)) * (values[above] - values[below]);
}
