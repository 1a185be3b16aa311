//===- ModelParts.h - What the kernels of a model are for -------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_EVALUATE_MODELPARTS_H
#define AUTOPAR_LIB_EVALUATE_MODELPARTS_H

#include "autopar/Program/CostProgram.h"

namespace autopar::evaluation {

/// Parts of a model, in the order of reports.
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

/// Finds what weights are for, from the values that flow between kernels.
///
/// The part of an attention (or a recurrence) is the kernel itself, the
/// products that read its result, and all of the same layer whose results serve
/// only those: projections, gates, rotations. So what follows is told from what
/// runs in parallel.
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
  /// The kernels that read what a kernel writes.
  std::vector<std::vector<size_t>> readers;
  /// attention, recurrence, or `other` where no mixer claims the kernel.
  std::vector<ModelPart> mixers;
};

} // namespace autopar::evaluation

#endif // AUTOPAR_LIB_EVALUATE_MODELPARTS_H
