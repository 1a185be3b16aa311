//===- CompiledProgram.h - A strategy, ready to be priced -------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_COST_COMPILEDPROGRAM_H
#define AUTOPAR_COST_COMPILEDPROGRAM_H

#include "autopar/Cost/Tape.h"

#include <memory>
#include <mutex>
#include <string>
#include <string_view>

namespace autopar::cost {

/// What the tape of a step gives, in this order.
enum class StepOutput : uint8_t {
  step_ps,
  communication_ps,
  total_bytes,
  fits,
  kv_capacity_tokens,
  /// Weights, caches and states.
  kept_bytes,
  /// What the runtime has on each device.
  runtime_bytes,
};
inline constexpr size_t stepOutputCount = 7;

/// What that of a step of two groups gives.
enum class ServingOutput : uint8_t {
  step_ps,
  /// Of it, the host's, layers included.
  host_ps,
  communication_ps,
  kv_capacity_tokens,
  /// Of all devices.
  flops,
};
inline constexpr size_t servingOutputCount = 5;

/// What is kept of a strategy: how a step of it is priced and, made or read
/// where somebody asks for it first, on whatever thread, all that is known of
/// it.
class CompiledProgram {
public:
  CompiledProgram(program::CostProgram program, Launching launching);

  /// Gives placed experts these loads, which bytes do not have, before anything
  /// is priced. A program without any stays as it is.
  void setLoads(std::shared_ptr<placement::ExpertPlacer> placer);

  /// For caches of this program on this kind of machine. Loads of experts are
  /// no part of it.
  std::string toBytes() const;
  /// What `toBytes` gave, which outlives it; nothing where `bytes` are cut
  /// short. Made up ones may lead anywhere: like MLIR's bytecode they are
  /// trusted.
  static std::optional<CompiledProgram> fromBytes(std::string_view bytes);

  /// Whether bytes that it was read from have all that it has.
  bool isStored() const { return stored; }

  Launching launching() const { return launches; }
  /// The axes that a layout has, in its order.
  const std::vector<std::string> &axes() const { return axisNames; }
  /// A step of the whole model, its outputs by `StepOutput`.
  const Tape &step() const { return stepTape; }
  /// A step of two groups, sequences that decode and then prompts, its outputs
  /// by `ServingOutput`; either may be empty.
  const Tape &serving();
  /// What stages are put together from, as `collectParts` has it.
  const Tape &parts();
  const program::CostProgram &program();

private:
  CompiledProgram() = default;
  /// Of `program`, where nobody else makes anything.
  const program::CostProgram &read();

  Launching launches;
  std::vector<std::string> axisNames;
  Tape stepTape;
  std::optional<Tape> servingTape, partTape;
  std::optional<program::CostProgram> whole;
  /// Null where loads of experts are even.
  std::shared_ptr<const program::PlacedExperts> placement;
  /// Of `whole`, which has not been read.
  std::string_view unread;
  bool stored = false;
  /// Held while anything is made or read.
  std::unique_ptr<std::mutex> making = std::make_unique<std::mutex>();
};

} // namespace autopar::cost

#endif // AUTOPAR_COST_COMPILEDPROGRAM_H
