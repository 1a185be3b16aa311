//===- CalibrateFuzzer.cpp ------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The input is a result file of a benchmark.

#include "autopar/Calibrate/Measurements.h"

#include <cstdlib>

using namespace autopar;
using namespace autopar::calibration;

extern "C" int LLVMFuzzerTestOneInput(const char *data, size_t size) {
  static const Result<MeasurementForms> forms = MeasurementForms::load();
  if (!forms)
    std::abort();
  Result<MeasuredFile> read = forms->read(std::string(data, size), "input");
  if (!read)
    return 0;
  std::vector<MeasuredFile> files = {std::move(*read)};
  (void)measurementsText(files);
  (void)servingTable(files, {{"model", "llama-3.1-8b"}, {"tp", "1"}});
  return 0;
}
