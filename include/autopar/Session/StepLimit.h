//===- StepLimit.h - How long a step may take -------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_SESSION_STEPLIMIT_H
#define AUTOPAR_SESSION_STEPLIMIT_H

#include "autopar/Program/Workload.h"
#include "autopar/Support/Result.h"

#include <optional>
#include <string>

namespace autopar {

/// What `--sla` says, in microseconds: "tpot:30ms" of a decode, "ttft:1.5s" of
/// a prefill; nothing of "".
Result<std::optional<double>> parseStepLimit(const std::string &text,
                                             Phase phase);

} // namespace autopar

#endif // AUTOPAR_SESSION_STEPLIMIT_H
