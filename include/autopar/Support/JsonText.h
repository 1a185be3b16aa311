//===- JsonText.h - Integers of any length in JSON --------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_SUPPORT_JSONTEXT_H
#define AUTOPAR_SUPPORT_JSONTEXT_H

#include "autopar/Support/Checked.h"

#include <nlohmann/json.hpp>

#include <string>

namespace autopar {

/// Makes a JSON integer of any length from its digits. Integers above 63 bits
/// are stored as digits in a binary value; reports have no other binary values.
nlohmann::ordered_json writeInteger(const std::string &digits);
nlohmann::ordered_json writeInteger(Checked value);

/// Writes `value` like `json::dump(2)`, but binary values as their digits, with
/// a newline at the end.
std::string printJson(const nlohmann::ordered_json &value);

} // namespace autopar

#endif // AUTOPAR_SUPPORT_JSONTEXT_H
