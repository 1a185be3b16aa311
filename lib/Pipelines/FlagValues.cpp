//===- FlagValues.cpp -----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Pipelines/FlagValues.h"

#include "autopar/Pipelines/Pipelines.h"

#include "llvm/Support/ErrorHandling.h"

using namespace autopar;
using namespace autopar::pipelines;
using namespace mlir;

std::vector<std::string> &
autopar::pipelines::valuesOf(const PlanFlags &flags, PlanValues &values,
                             const std::string &name) {
  for (size_t i = 0; i < values.size(); ++i)
    if (flags.all()[i].name == name)
      return values[i];
  llvm_unreachable("a flag that plans have");
}

/// Makes an error from the text that its `str()` gave.
static Error errorOf(const std::string &text) {
  static constexpr std::string_view note = "\n  note: ";
  size_t end = text.find(note);
  if (end == text.npos)
    return {"", text, ""};
  return {"", text.substr(0, end), text.substr(end + note.size())};
}

Result<PlanRequest> autopar::pipelines::readFlags(const PlanValues &values) {
  PlanFlags flags;
  if (std::optional<Error> error = flags.setAll(values, "autopar"))
    return *error;
  Error error;
  FailureOr<PlanRequest> request =
      readPlanRequest(flags.options(), [&](const Twine &message) {
        error = errorOf(message.str());
        return failure();
      });
  if (failed(request))
    return error;
  return std::move(*request);
}
