//===- Target.h - The target of modules -------------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_TRANSFORMS_BIND_TARGET_H
#define AUTOPAR_TRANSFORMS_BIND_TARGET_H

#include "autopar/Hardware/Hardware.h"
#include "autopar/Runtime/Runtime.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/AnalysisManager.h"

#include <map>

namespace autopar::transforms {

/// The choices of `parallel.target`, of a module or of the modules around it.
/// Absent: the default.
struct Target {
  std::optional<std::string> hardware, runtime;
  std::optional<int64_t> nodes;
  /// The runtime's share of device memory, from 0 to 1; absent means the
  /// runtime's own.
  std::optional<double> memoryUtilization;
  /// See `Plan::prefillChunk`.
  std::optional<int64_t> prefillChunk;
  /// See `Plan::maxSequences` and `Plan::eager`.
  runtime::LaunchChoices launch;
  std::vector<hardware::Override> overrides;
  /// Whether the hardware is the module's own, and not one that it shares with
  /// others of a deployment.
  bool own = false;
  /// The module's `modelTypeAttribute`, "" if it has none.
  std::string modelType;
  /// Whether the module's step is an iteration of training.
  bool trains = false;

  static constexpr const char *defaultHardware = "h100-sxm-8";
  static constexpr const char *defaultRuntime = "vllm";
  static constexpr const char *defaultTrainingRuntime = "megatron";

  std::string hardwareName() const {
    return hardware.value_or(defaultHardware);
  }
  std::string runtimeName() const {
    return runtime.value_or(trains ? defaultTrainingRuntime : defaultRuntime);
  }
  bool operator==(const Target &other) const {
    return std::tie(hardware, runtime, nodes, memoryUtilization, prefillChunk,
                    launch, overrides, own, modelType, trains) ==
           std::tie(other.hardware, other.runtime, other.nodes,
                    other.memoryUtilization, other.prefillChunk, other.launch,
                    other.overrides, other.own, other.modelType, other.trains);
  }
};

/// Returns the target of `module`.
Target targetOf(mlir::ModuleOp module);

/// The target of a module, with its names resolved: an analysis of modules,
/// which stays valid while the target does. An invalid one has emitted a
/// diagnostic: an unknown runtime, or an invalid one.
class TargetAnalysis {
public:
  explicit TargetAnalysis(mlir::Operation *module);
  /// For a module inside of `around`'s: both share the figures that they read,
  /// and overrides count as used if either uses them.
  TargetAnalysis(mlir::ModuleOp module, const TargetAnalysis &around);

  bool isInvalidated(const mlir::AnalysisManager::PreservedAnalyses &);
  bool isValid() const { return runtime != nullptr; }
  const Target &getTarget() const { return target; }
  const runtime::Runtime &getRuntime() const { return *runtime; }
  /// Returns the machine, with the kernels and collectives of the runtime, and
  /// `spareNodes` more nodes than the target has. Errors are emitted.
  mlir::FailureOr<hardware::Machine> readMachine(int64_t spareNodes = 0) const;
  /// Refuses overrides that nothing has used.
  mlir::LogicalResult verifyOverrides() const;

private:
  /// Libraries that were read with the same overrides.
  struct Libraries {
    explicit Libraries(std::vector<hardware::Override> overrides);

    std::vector<hardware::Override> overrides;
    hardware::HardwareLibrary hardware;
    std::map<std::string, runtime::Runtime> runtimes;
    /// By name and number of nodes.
    std::map<std::pair<std::string, int64_t>, hardware::Machine> machines;
    std::vector<bool> usedByRuntimes;
  };

  void readRuntime();
  void refuseTraining(const std::string &name) const;

  mlir::ModuleOp module;
  Target target;
  std::shared_ptr<Libraries> libraries;
  const runtime::Runtime *runtime = nullptr;
};

} // namespace autopar::transforms

#endif // AUTOPAR_TRANSFORMS_BIND_TARGET_H
