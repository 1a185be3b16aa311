//===- Question.cpp -------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Program/Question.h"

using namespace autopar;
using namespace autopar::program;

Question autopar::program::questionOf(const Workload &workload) {
  if (workload.phase == Phase::train)
    return Iteration{workload};
  return Step{workload};
}
