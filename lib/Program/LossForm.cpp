//===- LossForm.cpp -------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Program/LossForm.h"

#include <algorithm>

using namespace autopar;
using namespace autopar::program;

std::string_view autopar::program::nameOf(LossForm form) {
  switch (form) {
  case LossForm::eager:
    return "eager";
  case LossForm::in_place:
    return "in-place";
  case LossForm::compiled:
    return "compiled";
  case LossForm::fused:
    return "fused";
  }
  return "";
}

std::optional<LossForm> autopar::program::parseLossForm(std::string_view text) {
  const auto *found =
      std::find_if(lossForms.begin(), lossForms.end(),
                   [&](LossForm form) { return nameOf(form) == text; });
  return found == lossForms.end() ? std::nullopt : std::optional(*found);
}

std::string autopar::program::lossFormChoices() {
  return "eager, in-place, compiled or fused";
}
