//===- Progress.h - Progress of long functions ------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_SUPPORT_PROGRESS_H
#define AUTOPAR_SUPPORT_PROGRESS_H

#include <cstddef>
#include <functional>
#include <string_view>

namespace autopar {

/// A function that long computations call regularly, with the current work and
/// with how many of all parts are done. If it returns false, the computation
/// stops with an error. Null: no progress is reported.
using Progress =
    std::function<bool(std::string_view what, size_t done, size_t all)>;

} // namespace autopar

#endif // AUTOPAR_SUPPORT_PROGRESS_H
