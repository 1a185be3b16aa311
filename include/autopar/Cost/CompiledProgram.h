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

/// Outputs of the tape of a step, in this order.
enum class StepOutput : uint8_t {
  step_ps,
  communication_ps,
  total_bytes,
  fits,
  kv_capacity_tokens,
  /// Bytes of weights, caches and states.
  kept_bytes,
  /// Bytes of the runtime on each device.
  runtime_bytes,
};
inline constexpr size_t stepOutputCount = 7;

/// Outputs of the tape of a step with two groups of sequences.
enum class ServingOutput : uint8_t {
  step_ps,
  /// The host's part of the step, layers included.
  host_ps,
  communication_ps,
  kv_capacity_tokens,
  /// FLOPs of all devices.
  flops,
};
inline constexpr size_t servingOutputCount = 5;

/// A strategy compiled for pricing. It always has the tape of a step; the other
/// tapes and the cost program are built or decoded at first use, by any thread.
class CompiledProgram {
public:
  CompiledProgram(program::CostProgram program, Launching launching);

  /// Sets the loads of placed experts, which bytes do not store, before the
  /// first price. A program without placed experts stays as it is.
  void setLoads(std::shared_ptr<placement::ExpertPlacer> placer);

  /// Serialises the program for caches of this kind of machine, without loads
  /// of experts.
  std::string toBytes() const;
  /// Reads the output of `toBytes`, which must outlive the program. Returns
  /// nothing if `bytes` are truncated. Like MLIR's bytecode, `bytes` are
  /// trusted: forged ones are undefined behaviour.
  static std::optional<CompiledProgram> fromBytes(std::string_view bytes);

  /// Whether the bytes that this was read from contain all tapes that it has
  /// now.
  bool isStored() const { return stored; }

  Launching launching() const { return launches; }
  /// The names of the axes of a layout, in its order.
  const std::vector<std::string> &axes() const { return axisNames; }
  /// The tape of a step of the whole model; outputs by `StepOutput`.
  const Tape &step() const { return stepTape; }
  /// The tape of a step with two groups, decoding sequences and then prompts;
  /// outputs by `ServingOutput`. Either group may be empty.
  const Tape &serving();
  /// The tape of the parts that stages consist of (`collectParts`).
  const Tape &parts();
  const program::CostProgram &program();

private:
  CompiledProgram() = default;
  /// Decodes `program`; the caller holds `making`.
  const program::CostProgram &read();

  Launching launches;
  std::vector<std::string> axisNames;
  Tape stepTape;
  std::optional<Tape> servingTape, partTape;
  std::optional<program::CostProgram> whole;
  /// Null where loads of experts are even.
  std::shared_ptr<const program::PlacedExperts> placement;
  /// The bytes of `whole` before it is decoded.
  std::string_view unread;
  bool stored = false;
  /// Held while a tape or the program is built or decoded.
  std::unique_ptr<std::mutex> making = std::make_unique<std::mutex>();
};

} // namespace autopar::cost

#endif // AUTOPAR_COST_COMPILEDPROGRAM_H
