//===- Faults.h - An execution in which one thing goes wrong ----*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_TEST_INTERPRETER_FAULTS_H
#define AUTOPAR_TEST_INTERPRETER_FAULTS_H

#include "autopar/Interpreter/Execution.h"

#include "llvm/ADT/MapVector.h"

namespace autopar {

enum class FaultKind {
  // Of collectives.
  skipped,      ///< Each device keeps its own part, filled up to the shape.
  doubled,      ///< A sum is added twice.
  otherDevices, ///< Parts come from devices along other axes.
  peersPart,    ///< A device gets what is another's.
  lostPart,     ///< One member's part is zeros, its rows never come.
  swappedParts, ///< Two members' parts are swapped.
  stale,        ///< The result is that of the time before.
  strayRow,     ///< A routed row goes to the next device.
  // Of caches.
  lostAppend,     ///< This step's tokens are not kept.
  misplacedToken, ///< One of this step's is kept as the token after it.
  overwritten,    ///< One of them is kept in the place of another one too.
  keptTwice,      ///< Another device keeps a token too.
  lostPeer,       ///< A device does not see what another one keeps.
  wrongPeer,      ///< It sees its own tokens in the other's place.
  // Of states.
  notUpdated,
  updatedTwice,
  // Of pipeline stages.
  lostValue,       ///< One of the values that a stage sends does not come.
  idleValue,       ///< One comes that the stage has no use for.
  otherMicrobatch, ///< What comes is taken for another microbatch's.
  staleValues,     ///< What comes is what came the time before.
  swappedDevices,  ///< Two devices get what is each other's.
  skippedTask,     ///< A stage leaves a microbatch out.
  repeatedTask,    ///< It takes one twice.
};
inline constexpr int faultKinds = static_cast<int>(FaultKind::repeatedTask) + 1;

llvm::StringRef nameOf(FaultKind kind);

/// The `time`-th time that `op` is executed.
struct Site {
  mlir::Operation *op = nullptr;
  int64_t time = 0;
};

/// One fault, with the devices that it is between.
struct Fault {
  FaultKind kind = FaultKind::skipped;
  Site site;
  /// Where it happens, -1 on all devices; what device is mistaken for what.
  int64_t victim = -1, peer = 0;
  /// Elements that the fault changes become large: whoever reads them shows it.
  bool poisons = false;
};

/// Whether faults of a kind can be at an op.
bool canHave(mlir::Operation *op, FaultKind kind);

/// Counts how often ops are executed, and how often `stages` send something.
class Counter : public interpreter::Executor {
public:
  explicit Counter(mlir::Operation *stages) : stages(stages) {}

  void send(interpreter::StageMessage &) override { ++times[stages]; }
  mlir::FailureOr<interpreter::LocalTensors>
  execute(interpreter::ExecutableOpInterface op,
          interpreter::Device &device) override;
  llvm::MapVector<mlir::Operation *, int64_t> times;

private:
  mlir::Operation *stages;
};

/// Has everything done right but for one fault.
class Saboteur : public interpreter::Executor {
public:
  explicit Saboteur(const Fault &fault) : fault(fault) {}

  mlir::LogicalResult prepare(interpreter::ExecutableOpInterface op,
                              interpreter::Device &device) override;
  mlir::FailureOr<interpreter::LocalTensors>
  execute(interpreter::ExecutableOpInterface op,
          interpreter::Device &device) override;
  void order(interpreter::StageOrders &orders) override;
  void send(interpreter::StageMessage &message) override;

  /// Whether the fault has changed anything.
  bool hasChanged() const { return changed; }

private:
  bool isAt(mlir::Operation *op, const interpreter::Device &device) const;
  mlir::FailureOr<interpreter::LocalTensor>
  spoil(interpreter::ExecutableOpInterface op, interpreter::Device &device);
  mlir::FailureOr<interpreter::LocalTensor>
  withParts(interpreter::ExecutableOpInterface op, interpreter::Device &device);
  mlir::FailureOr<interpreter::LocalTensor>
  withOtherCache(interpreter::ExecutableOpInterface op,
                 interpreter::Device &device);
  mlir::FailureOr<interpreter::LocalTensor>
  withOtherState(interpreter::ExecutableOpInterface op,
                 interpreter::Device &device);
  void spoilCache(interpreter::CachedTokens &cache,
                  const interpreter::CachedTokens &before,
                  interpreter::CachedTokens &peers);
  void spoilMessage(interpreter::StageMessage &message);
  void moveRow(interpreter::LocalTensor &result,
               const interpreter::Device &device);
  void compare(interpreter::LocalTensor &spoiled,
               const interpreter::LocalTensor &right);

  Fault fault;
  int64_t time = 0;
  bool changed = false;
  std::map<int64_t, interpreter::LocalTensor> last;
  interpreter::LocalTensor strayed;
  interpreter::StageMessage lastMessage;
};

} // namespace autopar

#endif // AUTOPAR_TEST_INTERPRETER_FAULTS_H
