//===- Progress.h - How far something long is -------------------*- C++ -*-===//
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

/// Called by what takes long, now and then: what it does, and how much of it is
/// done. False stops it, which is an error of the function that was called.
/// None: nobody asks.
using Progress =
    std::function<bool(std::string_view what, size_t done, size_t all)>;

} // namespace autopar

#endif // AUTOPAR_SUPPORT_PROGRESS_H
