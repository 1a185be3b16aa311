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

/// The outputs of the tape that prices a step of the whole model, in the order
/// in which the tape writes them.
enum class StepOutput : uint8_t {
  step_ps,
  communication_ps,
  total_bytes,
  fits,
  kv_capacity_tokens,
  /// Bytes of weights, KV caches and recurrent states on a device.
  kept_bytes,
  /// Bytes that the runtime itself needs on each device.
  runtime_bytes,
};
inline constexpr size_t stepOutputCount = 7;

/// The outputs of the tape that prices a step with two groups of sequences
/// (decoding sequences and prompts), in the order in which the tape writes
/// them.
enum class ServingOutput : uint8_t {
  step_ps,
  /// Host time of the step in ps, the time per layer included.
  host_ps,
  communication_ps,
  kv_capacity_tokens,
  /// FLOPs of the step on all devices together.
  flops,
};
inline constexpr size_t servingOutputCount = 5;

/// A strategy (a split program) compiled for pricing. The tape of a step always
/// exists; the other tapes and the cost program are built or decoded when they
/// are first used, by any thread.
class CompiledProgram {
public:
  CompiledProgram(program::CostProgram program, Launching launching);

  /// Sets the loads of placed experts, which serialised bytes do not contain.
  /// Call it before the first price. A program without placed experts is not
  /// changed.
  void setLoads(std::shared_ptr<placement::ExpertPlacer> placer);

  /// Serialises the program, without expert loads, for a cache on this kind of
  /// machine.
  std::string toBytes() const;
  /// Reads the output of `toBytes`, which must outlive the program. Returns
  /// nothing if `bytes` are truncated. Like MLIR's bytecode, `bytes` are
  /// trusted: forged ones are undefined behaviour.
  static std::optional<CompiledProgram> fromBytes(std::string_view bytes);

  /// Whether the serialised bytes from which this program was read contain all
  /// tapes that it has now.
  bool isStored() const { return stored; }

  Launching launching() const { return launches; }
  /// Names of the mesh axes, in the order of `Layout::axes`.
  const std::vector<std::string> &axes() const { return axisNames; }
  /// The tape that prices a step of the whole model; `StepOutput` numbers its
  /// outputs.
  const Tape &step() const { return stepTape; }
  /// The tape that prices a step with two groups of sequences, first decoding
  /// sequences, then prompts; `ServingOutput` numbers its outputs. Either group
  /// may be empty.
  const Tape &serving();
  /// The tape that prices the parts of pipeline stages (`collectParts`).
  const Tape &parts();
  const program::CostProgram &program();

private:
  CompiledProgram() = default;
  /// Decodes the cost program. The caller must hold the mutex `making`.
  const program::CostProgram &read();

  Launching launches;
  std::vector<std::string> axisNames;
  Tape stepTape;
  std::optional<Tape> servingTape, partTape;
  std::optional<program::CostProgram> whole;
  /// The placement of experts and their loads; null if loads are even.
  std::shared_ptr<const program::PlacedExperts> placement;
  /// The serialised bytes of the cost program, until it is decoded into
  /// `whole`.
  std::string_view unread;
  bool stored = false;
  /// Locked while a tape or the cost program is built or decoded.
  std::unique_ptr<std::mutex> making = std::make_unique<std::mutex>();
};

} // namespace autopar::cost

#endif // AUTOPAR_COST_COMPILEDPROGRAM_H
