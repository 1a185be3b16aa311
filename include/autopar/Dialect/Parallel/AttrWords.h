//===- AttrWords.h - Words of enumerations in the text ----------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_DIALECT_PARALLEL_ATTRWORDS_H
#define AUTOPAR_DIALECT_PARALLEL_ATTRWORDS_H

#include "autopar/Interfaces/WordSyntax.h"
#include "autopar/Placement/Placement.h"
#include "autopar/Schedule/Schedule.h"

namespace autopar::schedule {
inline llvm::raw_ostream &operator<<(llvm::raw_ostream &os, ScheduleKind kind) {
  return os << nameOf(kind);
}
} // namespace autopar::schedule

namespace autopar::placement {
inline llvm::raw_ostream &operator<<(llvm::raw_ostream &os,
                                     PlacementPolicy policy) {
  return os << nameOf(policy);
}
} // namespace autopar::placement

namespace autopar {

/// Parses the word of a value of the enum `T`, as `nameOf` writes it.
template <typename T>
mlir::FailureOr<T> parseNamed(mlir::AsmParser &parser,
                              std::optional<T> (*parse)(std::string_view text),
                              const std::string &choices) {
  llvm::SMLoc loc = parser.getCurrentLocation();
  llvm::StringRef word;
  if (parser.parseKeyword(&word))
    return mlir::failure();
  std::optional<T> value = parse(word);
  if (value && nameOf(*value) == std::string_view(word))
    return *value;
  parser.emitError(loc) << "unknown word '" << word << "', expected "
                        << choices;
  return mlir::failure();
}

} // namespace autopar

template <>
struct mlir::FieldParser<autopar::schedule::ScheduleKind> {
  static mlir::FailureOr<autopar::schedule::ScheduleKind>
  parse(mlir::AsmParser &parser) {
    return autopar::parseNamed(parser, autopar::schedule::parseScheduleKind,
                               autopar::schedule::scheduleChoices());
  }
};

template <>
struct mlir::FieldParser<autopar::placement::PlacementPolicy> {
  static mlir::FailureOr<autopar::placement::PlacementPolicy>
  parse(mlir::AsmParser &parser) {
    return autopar::parseNamed(parser, autopar::placement::parsePlacementPolicy,
                               autopar::placement::policyChoices());
  }
};

#endif // AUTOPAR_DIALECT_PARALLEL_ATTRWORDS_H
