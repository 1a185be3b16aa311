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

/// A number, or a list of numbers, of `Requests`.
struct RequestKnob {
  /// The flag, without dashes; how help writes its value; its help.
  const char *flag, *value, *help;
  /// The name of the pass option; of the attribute of the op, which errors of
  /// the op say, too; of the member of `serving.requests` in reports.
  const char *option, *key, *reportKey;
  /// The numbers it holds; none where nothing is said.
  std::vector<double> (*get)(const Requests &requests);
  /// Takes one number, or a list of at least one.
  void (*set)(Requests &requests, const std::vector<double> &numbers);
  bool isList = false;
  /// What the flag expects, in words before the range: "a share of tokens"; and
  /// a flag that is right, null where the words are enough.
  const char *expected = nullptr, *example = nullptr;
  double least = 0, most = 1;
  /// Whether `most` itself is out of range.
  bool isBelowMost = false;
  /// Whether a trace of requests says it; then the flag is refused.
  bool isOfTrace = false;

  bool has(double number) const {
    return number >= least && (isBelowMost ? number < most : number <= most);
  }
  /// "from 0 to below 1".
  std::string range() const;
};

/// All, in the order of help, of the text of the op and of reports.
const std::vector<RequestKnob> &requestKnobs();

/// The numbers that a user has chosen for a knob.
struct RequestNumbers {
  const RequestKnob *knob;
  std::vector<double> numbers;
};

} // namespace autopar::program

#endif // AUTOPAR_PROGRAM_REQUESTKNOBS_H
