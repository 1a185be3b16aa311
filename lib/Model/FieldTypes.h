//===- FieldTypes.h - Types of config fields --------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_MODEL_FIELDTYPES_H
#define AUTOPAR_LIB_MODEL_FIELDTYPES_H

#include "autopar/Model/Expression.h"
#include "autopar/Support/Json.h"

#include <optional>

namespace autopar::model {

/// Reads the value at `reader`, and checks it against the field's "type",
/// "min", "max", "first_layer" and "choices". Types: width, count, experts,
/// layers, tokens (positive integers up to a reasonable limit), count_or_auto,
/// integer, number, flag, text, list, list_or_integer, activation, any.
Result<JsonValue> readFieldValue(const JsonReader &reader,
                                 const JsonValue &field);

/// The number of the first layer in a list of layers, its "first_layer"; none
/// for other lists.
std::optional<int64_t> firstLayerOf(const JsonValue &field);

/// The problem of `value` under a relation to `bound` ("divides", "at_most",
/// "multiple_of", "length"), "" if there is none.
std::string relationProblem(std::string_view relation, const JsonValue &value,
                            const JsonValue &bound);

/// A value in messages: texts without quotes.
std::string showValue(const JsonValue &value);

} // namespace autopar::model

#endif // AUTOPAR_LIB_MODEL_FIELDTYPES_H
