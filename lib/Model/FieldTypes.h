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

/// Reads the value at `reader`, and checks it against the members "type",
/// "min", "max", "first_layer" and "choices" of the field. Types: width, count,
/// experts, layers, tokens (positive integers up to a reasonable limit),
/// count_or_auto, integer, number, flag, text, list, list_or_integer,
/// activation, any.
Result<JsonValue> readFieldValue(const JsonReader &reader,
                                 const JsonValue &field);

/// Returns the number of the first layer in a list of layers (the member
/// "first_layer" of the field); nothing for other lists.
std::optional<int64_t> firstLayerOf(const JsonValue &field);

/// Describes how `value` violates a relation to `bound` ("divides", "at_most",
/// "multiple_of", "length"); "" if it does not.
std::string relationProblem(std::string_view relation, const JsonValue &value,
                            const JsonValue &bound);

/// Returns a value as messages show it: texts without quotes.
std::string showValue(const JsonValue &value);

} // namespace autopar::model

#endif // AUTOPAR_LIB_MODEL_FIELDTYPES_H
