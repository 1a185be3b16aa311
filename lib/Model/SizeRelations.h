//===- SizeRelations.h - Small sizes that fit together ----------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_MODEL_SIZERELATIONS_H
#define AUTOPAR_LIB_MODEL_SIZERELATIONS_H

#include "SizeFields.h"

namespace autopar::model {

/// Small sizes of fields, by scope and name of the field.
using SmallSizeMap = std::map<std::pair<Scope *, std::string>, int64_t>;

/// Sets sizes that must equal a value computed from other fields ("equals"), or
/// be a multiple of it ("multiple_of"). If such a value depends on a size that
/// is not small yet, that size is reduced so that the value is right, and is
/// added to `fields`.
void settleRelations(std::vector<SizeField> &fields, SmallSizeMap &small);

} // namespace autopar::model

#endif // AUTOPAR_LIB_MODEL_SIZERELATIONS_H
