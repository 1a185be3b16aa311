//===- ModelParts.h - Purposes of a model's kernels -------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_EVALUATE_MODELPARTS_H
#define AUTOPAR_LIB_EVALUATE_MODELPARTS_H

#include "autopar/Program/CostProgram.h"

namespace autopar::evaluation {

/// The parts of a model, in the order in which reports list them.
enum class ModelPart : uint8_t {
  embedding,
  encoder,
  attention,
  recurrence,
  feed_forward,
  router,
  experts,
  norms,
  other,
  head,
  stored_only,
};
inline constexpr size_t modelPartCount = 11;
const char *nameOf(ModelPart part);

/// Finds the purpose of weights from the values that flow between kernels.
///
/// The part of an attention (or a recurrence) is the kernel itself, the matmuls
/// that read its result, and all kernels of the same layer whose results reach
/// only these: projections, gates, rotations. This separates operations that
/// follow the attention from those that run in parallel.
class ModelParts {
public:
  explicit ModelParts(const program::CostProgram &program);
  ModelPart of(const program::Resident &weight) const;

private:
  void connect();
  void markMixer(size_t mixer);
  std::vector<bool> findOutput(size_t mixer) const;
  bool encodes(const program::Kernel &kernel) const;
  bool routes(size_t kernel) const;
  ModelPart partOf(size_t kernel) const;

  const program::CostProgram &program;
  /// For each kernel, the kernels that read its results.
  std::vector<std::vector<size_t>> readers;
  /// For each kernel, the mixer to which it belongs: attention, recurrence, or
  /// `other` if it belongs to none.
  std::vector<ModelPart> mixers;
};

} // namespace autopar::evaluation

#endif // AUTOPAR_LIB_EVALUATE_MODELPARTS_H
