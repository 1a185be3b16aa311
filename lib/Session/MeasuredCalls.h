//===- MeasuredCalls.h - Collectives that were timed alone ------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_SESSION_MEASUREDCALLS_H
#define AUTOPAR_LIB_SESSION_MEASUREDCALLS_H

#include "autopar/Calibrate/Measurements.h"
#include "autopar/Program/CostProgram.h"

namespace autopar::session {

/// A call of a collective over the first `devices` devices of a system, as
/// nccl-tests times it.
struct MeasuredCall {
  /// The location in the file: "nccl.json: /results/3".
  std::string where;
  std::string system;
  program::CollectiveKind kind = program::CollectiveKind::all_reduce;
  int64_t devices = 1;
  double bytes = 0, timeUs = 0;
};

/// Returns the calls in `files`. `stated` holds over files: `hardware`,
/// `collective` ("all_reduce"), `devices`. Sizes of 0 bytes, and collectives
/// without a price (broadcast, gather), are left out. Errors: a fact that
/// neither a file nor a flag states; a system that the library lacks.
Result<std::vector<MeasuredCall>>
measuredCalls(const std::vector<calibration::MeasuredFile> &files,
              const calibration::StatedFacts &stated);

/// Returns the time of each call in us, with `overrides` as `--set` has them;
/// nothing where no links join the devices. Times are those of
/// `cost::Network`, of the machine's own library of collectives.
Result<std::vector<std::optional<double>>>
predictCalls(const std::vector<MeasuredCall> &calls,
             const std::vector<std::string> &overrides);

} // namespace autopar::session

#endif // AUTOPAR_LIB_SESSION_MEASUREDCALLS_H
