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

/// The choices of the `parallel.target` ops of a module and of the modules
/// around it. An absent choice has its default.
struct Target {
  std::optional<std::string> hardware, runtime;
  std::optional<int64_t> nodes;
  /// The share of device memory that the runtime may use, from 0 to 1; absent
  /// means the runtime's own.
  std::optional<double> memoryUtilization;
  /// Number of prompt tokens that a replica computes in one step, as
  /// `Plan::prefillChunk`.
  std::optional<int64_t> prefillChunk;
  /// Limit of the running batch and use of CUDA graphs, as `Plan::maxSequences`
  /// and `Plan::eager`.
  runtime::LaunchChoices launch;
  std::vector<hardware::Override> overrides;
  /// Whether the module itself states the hardware; if not, it shares that of
  /// the deployment with other modules.
  bool own = false;
  /// The value of the module's `modelTypeAttribute`; "" if it has none.
  std::string modelType;
  /// Whether the module's step is a training iteration.
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

/// The target of a module together with the runtime and machine that its names
/// mean: an analysis of modules, which stays valid as long as the target does
/// not change. For an unknown or invalid runtime, it emits a diagnostic and is
/// invalid.
class TargetAnalysis {
public:
  explicit TargetAnalysis(mlir::Operation *module);
  /// Makes the target of a module inside the module of `around`: both share the
  /// files that they read, and an override counts as used if either uses it.
  TargetAnalysis(mlir::ModuleOp module, const TargetAnalysis &around);

  bool isInvalidated(const mlir::AnalysisManager::PreservedAnalyses &);
  bool isValid() const { return runtime != nullptr; }
  const Target &getTarget() const { return target; }
  const runtime::Runtime &getRuntime() const { return *runtime; }
  /// Returns the machine, with the measured kernels and collectives of the
  /// runtime, and with `spareNodes` more nodes than the target states. Errors
  /// are emitted.
  mlir::FailureOr<hardware::Machine> readMachine(int64_t spareNodes = 0) const;
  /// Emits an error for overrides that nothing has used.
  mlir::LogicalResult verifyOverrides() const;

private:
  /// The hardware and runtime files that were read with the same overrides.
  struct Libraries {
    explicit Libraries(std::vector<hardware::Override> overrides);

    std::vector<hardware::Override> overrides;
    hardware::HardwareLibrary hardware;
    std::map<std::string, runtime::Runtime> runtimes;
    /// Machines that were made, by name and number of nodes.
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
