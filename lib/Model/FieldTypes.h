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

/// The value at `reader`, checked against the field's "type", "min", "max",
/// "first_layer" and "choices". Types: width, count, experts, layers, tokens
/// (positive integers up to what makes sense), count_or_auto, integer, number,
/// flag, text, list, list_or_integer, activation, any.
Result<JsonValue> readFieldValue(const JsonReader &reader,
                                 const JsonValue &field);

/// What a list of layers calls the first one, its "first_layer"; none of a list
/// that has none.
std::optional<int64_t> firstLayerOf(const JsonValue &field);

/// What is wrong with `value` under a relation to `bound` ("divides",
/// "at_most", "multiple_of", "length"), "" where nothing is.
std::string relationProblem(std::string_view relation, const JsonValue &value,
                            const JsonValue &bound);

/// A value in messages: texts without quotes.
std::string showValue(const JsonValue &value);

} // namespace autopar::model

#endif // AUTOPAR_LIB_MODEL_FIELDTYPES_H
