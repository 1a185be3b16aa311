//===- OtherFlags.h - Flags of engines and frameworks -----------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_TOOLS_OTHERFLAGS_H
#define AUTOPAR_TOOLS_OTHERFLAGS_H

#include <string>

namespace autopar {

/// A flag of vLLM, SGLang, TensorRT-LLM or a training framework that autopar
/// does not have, and how to do the same in autopar. Flags with exactly the
/// meaning of one of autopar's flags are aliases of that flag (`alsoCalled` of
/// PlanKnobs.cpp).
struct OtherFlag {
  const char *name;
  /// The flag of autopar that does the same; "" if there is none.
  const char *ours;
  /// How autopar's flag differs, or what to do if there is none; "" if both
  /// flags are alike.
  const char *note;
};

/// Returns the flag `name`, ignoring case and dashes; null if there is none.
const OtherFlag *findOtherFlag(const std::string &name);

/// Returns only the letters and digits of `name`, in lower case: "shardtp" for
/// "--shard_TP".
std::string bareName(const std::string &name);

} // namespace autopar

#endif // AUTOPAR_TOOLS_OTHERFLAGS_H
