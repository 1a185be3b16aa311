//===- RequestKnobs.h - The numbers of serving, each said once --*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A feature of serving adds a number, or a list of them, to `Requests`. The
// flag and its help, the option of `autopar-bind-requests`, what reads and
// writes the attribute of `transformer.requests`, the check of the range and
// the member of reports are read off this table.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_PROGRAM_REQUESTKNOBS_H
#define AUTOPAR_PROGRAM_REQUESTKNOBS_H

#include "autopar/Program/Requests.h"

namespace autopar::program {

/// A user's choice that is one number, or a list of numbers, of `Requests`: its
/// names, its range, and how to get and set it.
struct RequestKnob {
  /// The flag's name without dashes, the placeholder for its value in help, and
  /// its help text.
  const char *flag, *value, *help;
  /// `option`: the name of the pass option. `key`: the name of the op's
  /// attribute, which the op's errors state, too. `reportKey`: the name of the
  /// member of `serving.requests` in reports.
  const char *option, *key, *reportKey;
  /// Returns the numbers that `requests` has; none if they are not set.
  std::vector<double> (*get)(const Requests &requests);
  /// Sets the numbers: exactly one or, for a list, at least one.
  void (*set)(Requests &requests, const std::vector<double> &numbers);
  bool isList = false;
  /// `expected`: what the flag expects, in words that come before the range,
  /// such as "a share of tokens". `example`: a correct flag for the error; null
  /// if the words suffice.
  const char *expected = nullptr, *example = nullptr;
  double least = 0, most = 1;
  /// Whether `most` itself is out of range.
  bool isBelowMost = false;
  /// Whether a trace of requests states these numbers, so that the flag is
  /// refused beside a trace.
  bool isOfTrace = false;

  bool has(double number) const {
    return number >= least && (isBelowMost ? number < most : number <= most);
  }
  /// Returns the allowed range as text: "from 0 to below 1".
  std::string range() const;
};

/// Returns all choices, in the order in which help, the op's text and reports
/// list them.
const std::vector<RequestKnob> &requestKnobs();

/// The numbers that the user set for one choice.
struct RequestNumbers {
  const RequestKnob *knob;
  std::vector<double> numbers;
};

} // namespace autopar::program

#endif // AUTOPAR_PROGRAM_REQUESTKNOBS_H
