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
/// does not have, and what leads on from it. Flags that mean exactly what one
/// of autopar's means are aliases of that one (`alsoCalled` of PlanKnobs.cpp).
struct OtherFlag {
  const char *name;
  /// The flag that says it here, "" where none does.
  const char *ours;
  /// How that one differs, or what to do without; "" where they are alike.
  const char *note;
};

/// The one called `name`, whatever its case and its dashes; null where none is.
const OtherFlag *findOtherFlag(const std::string &name);

/// Letters and digits alone, in lower case: "shardtp" of "--shard_TP".
std::string bareName(const std::string &name);

} // namespace autopar

#endif // AUTOPAR_TOOLS_OTHERFLAGS_H
