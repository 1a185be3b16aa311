//===- DraftOrigin.h - What a drafted family was made of --------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_MODEL_DRAFTORIGIN_H
#define AUTOPAR_MODEL_DRAFTORIGIN_H

#include "autopar/Model/Scope.h"

namespace autopar::model {

/// Returns the values of a config that may change tensor shapes, by JSON
/// pointer: all values except those of keys in models/plain_keys.json. A draft
/// stores them, in order to recognise the config from which it was made.
Result<JsonValue> shapingValuesOf(const JsonValue &config);

/// Returns the remark to print if the model's family is a draft; nothing if it
/// is not.
std::optional<std::string> draftRemark(const Family &family);

/// Returns an error if the drafted family of `scope` was not made for this
/// config: one that differs from the draft's own in a value that no field reads
/// or, if the draft contains numbers that are not in the config, in any value.
std::optional<Error> checkDraftOrigin(const Scope &scope);

} // namespace autopar::model

#endif // AUTOPAR_MODEL_DRAFTORIGIN_H
