//===- TrainingReport.cpp -------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Report/TrainingReport.h"

using namespace autopar;
using namespace autopar::report;

using Purpose = TrainingReport::Exposure::Purpose;

std::string_view autopar::report::nameOf(Purpose purpose) {
  switch (purpose) {
  case Purpose::activations:
    return "activations";
  case Purpose::dispatch:
    return "dispatch";
  case Purpose::inputs:
    return "inputs";
  case Purpose::gather:
    return "gather";
  case Purpose::reduction:
    return "reduction";
  case Purpose::copies:
    return "copies";
  }
  return "";
}
