//===- Layout.h - Stages as letters of their parts --------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LAUNCH_LAYOUT_H
#define AUTOPAR_LAUNCH_LAYOUT_H

#include "autopar/Support/Result.h"

#include <cstdint>
#include <string>
#include <vector>

namespace autopar::launch {

/// The number of layers (`t`) of each stage of a layout such as
/// "Et*3|(tt|)*6L": `|` ends a stage, `*n` repeats a letter or a group, commas
/// mean nothing. Errors: a group without its end, a repetition that is no
/// number, more stages or layers than `limits` allow.
Result<std::vector<int64_t>> layersOfLayout(const std::string &layout);

/// The layout of stages with these numbers of layers, with the embedding in
/// front and the loss behind.
std::string layoutOfLayers(const std::vector<int64_t> &layers);

} // namespace autopar::launch

#endif // AUTOPAR_LAUNCH_LAYOUT_H
