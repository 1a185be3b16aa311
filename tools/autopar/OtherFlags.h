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
/// does not have, with the way to do the same. Flags with exactly the meaning
/// of one of autopar's are aliases of it (`alsoCalled` of PlanKnobs.cpp).
struct OtherFlag {
  const char *name;
  /// The flag of autopar, "" if there is none.
  const char *ours;
  /// The difference of that flag, or a way without it; "" if they are alike.
  const char *note;
};

/// Finds the flag `name`, ignoring case and dashes; null if there is none.
const OtherFlag *findOtherFlag(const std::string &name);

/// Letters and digits only, in lower case: "shardtp" for "--shard_TP".
std::string bareName(const std::string &name);

} // namespace autopar

#endif // AUTOPAR_TOOLS_OTHERFLAGS_H
