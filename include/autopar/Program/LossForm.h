//===- LossForm.h - Implementations of the loss -----------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_PROGRAM_LOSSFORM_H
#define AUTOPAR_PROGRAM_LOSSFORM_H

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace autopar::program {

/// How a runtime computes cross entropy and its gradient, which determines how
/// many copies of the scores (logits) a device holds. Bytes per score at the
/// peak are in brackets, for 16-bit scores.
enum class LossForm : uint8_t {
  /// PyTorch's operators one after the other: log_softmax in fp32, which is
  /// kept, then the gradients of nll_loss and of log_softmax (12). With a split
  /// vocabulary, loss_parallel also recomputes the exponentials (16).
  eager,
  /// One copy in fp32, which becomes the softmax and then the gradient, which
  /// is cast (6): Megatron's vocab_parallel_cross_entropy.
  in_place,
  /// Kernels that a compiler has fused: the scores are kept, and their gradient
  /// is a second tensor (4).
  compiled,
  /// One kernel that overwrites the scores with their gradient (2).
  fused,
};
inline constexpr std::array<LossForm, 4> lossForms = {
    LossForm::eager, LossForm::in_place, LossForm::compiled, LossForm::fused};

/// Returns the name of the form, as flags spell it: "in-place".
std::string_view nameOf(LossForm form);
std::optional<LossForm> parseLossForm(std::string_view text);
/// Returns all forms as text: "eager, in-place, compiled or fused".
std::string lossFormChoices();

/// Whether the scores are copied to fp32 before they are compared with labels.
inline bool widensScores(LossForm form) {
  return form == LossForm::eager || form == LossForm::in_place;
}
/// Whether the gradient overwrites the scores.
inline bool reusesScores(LossForm form) {
  return form == LossForm::in_place || form == LossForm::fused;
}

} // namespace autopar::program

#endif // AUTOPAR_PROGRAM_LOSSFORM_H
