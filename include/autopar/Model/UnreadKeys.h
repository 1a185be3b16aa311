//===- UnreadKeys.h - What a family does not know of a config ---*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_MODEL_UNREADKEYS_H
#define AUTOPAR_MODEL_UNREADKEYS_H

#include "autopar/Model/Model.h"

namespace autopar::model {

/// Returns the keys of the config ("text_config/block_size") that may be
/// dimensions, that no family reads, and that models/plain_keys.json does not
/// list as harmless. Call it after the import, when all parts have been read.
/// `scope` is that of the whole config.
Result<std::vector<std::string>> unreadKeysOf(const Scope &scope);

/// Returns an error if one of the keys `unread` is a list with an entry per
/// layer whose entries differ: the model then has kinds of layers that are not
/// counted.
std::optional<Error> findUnreadLayers(const Model &model,
                                      const std::vector<std::string> &unread);

} // namespace autopar::model

#endif // AUTOPAR_MODEL_UNREADKEYS_H
