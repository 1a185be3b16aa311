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

/// The values of a config that may change shapes, by JSON pointer: those of
/// all keys but the ones of models/plain_keys.json. A draft keeps them, to know
/// the config it was made of.
Result<JsonValue> shapingValuesOf(const JsonValue &config);

/// What to say of a model whose family is a draft; nothing where it is none.
std::optional<std::string> draftRemark(const Family &family);

/// Refuses a config that the drafted family of `scope` was not made for: one
/// that differs in a value that no field reads or, where the draft has numbers
/// of its own, in any.
std::optional<Error> checkDraftOrigin(const Scope &scope);

} // namespace autopar::model

#endif // AUTOPAR_MODEL_DRAFTORIGIN_H
