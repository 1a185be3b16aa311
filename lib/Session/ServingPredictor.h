//===- ServingPredictor.h - Predictions of measured services ----*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_SESSION_SERVINGPREDICTOR_H
#define AUTOPAR_LIB_SESSION_SERVINGPREDICTOR_H

#include "autopar/Plan/Degrees.h"
#include "autopar/Serving/Disaggregation.h"
#include "autopar/Support/Result.h"

#include <memory>
#include <set>
#include <string>

namespace autopar::session {

/// A deployment, as tables of measurements describe it.
struct ServedPlan {
  /// The model: the name of a bundled model, or a path.
  std::string model;
  /// The weight format: bf16, fp8, fp8_block, nvfp4 or awq-4; empty for the
  /// format of the checkpoint.
  std::string weightFormat;
  /// The format of the KV caches; absent if the runtime chooses it.
  std::optional<ElementType> kvFormat = std::nullopt;
  /// The share of memory that the runtime may use; absent for the runtime's
  /// default.
  std::optional<double> memoryUtilization = std::nullopt;
  /// There are tp * dp devices; dp is the number of replicas of attention.
  int64_t tp = 1, dp = 1, ep = 1, etp = 1;
  /// The names of the system and of the runtime, which may have a version:
  /// "vllm@0.19".
  std::string system, runtime;
  /// The token budget of a step, from which the runtime derives the size of its
  /// temporaries. Absent if the runtime's default applies.
  std::optional<int64_t> stepTokens = std::nullopt;
  /// Intervals of the engine in steps; see `RequestHost`. Absent if the
  /// runtime's defaults apply.
  std::optional<int64_t> streamInterval = std::nullopt;
  std::optional<int64_t> receiveInterval = std::nullopt;
};

/// The memory of one device of a started deployment, in bytes.
struct ServedMemory {
  int64_t weightBytes = 0, temporaryBytes = 0, runtimeBytes = 0;
  int64_t kvPoolBytes = 0, budgetBytes = 0;
  /// The number of tokens that the KV cache of a replica holds.
  int64_t kvTokens = 0;
};

/// Properties of a deployment that do not depend on the load.
struct ServedFacts {
  /// The number of tokens that the KV caches of all replicas hold.
  int64_t kvTokens = 0;
  /// The FLOPs of one output token, and of a whole prompt.
  double decodeFlops = 0, promptFlops = 0;
  /// The dense peak of all devices in the format of the weights, in FLOP/s.
  double peakFlops = 0;
  int64_t devicesPerNode = 0;
  bool hasPredictionHead = false, hasExperts = false;
};

/// Predicts services. It imports each model once and makes each strategy once.
class ServingPredictor {
public:
  explicit ServingPredictor(std::vector<hardware::Override> overrides = {});
  ~ServingPredictor();

  Result<serving::SteadyState> predict(const ServedPlan &plan,
                                       const serving::ServedLoad &load);
  /// Predicts a service in which separate workers, with the plan `prefill`, run
  /// the prefills.
  Result<serving::DisaggregatedState>
  predict(const ServedPlan &prefill, const ServedPlan &decode,
          const serving::Disaggregation &pools,
          const serving::ServedLoad &load);
  /// Returns the output tokens per second of a static batch.
  Result<double> predictBatch(const ServedPlan &plan,
                              const serving::ServedLoad &batch);
  /// Returns the memory of a device if sequences have this length.
  Result<ServedMemory> memory(const ServedPlan &plan, int64_t sequenceTokens);
  Result<ServedFacts> facts(const ServedPlan &plan, double promptTokens,
                            double answerTokens);
  /// The weight format of a model's checkpoint: "fp8", "fp4", "int4" or "bf16".
  Result<std::string> checkpointFormat(const std::string &model);
  /// Returns an error for the first override that nothing has used so far;
  /// nothing if all were used.
  std::optional<Error>
  unusedOverride(const std::set<std::string> &otherOwners = {}) const;

private:
  struct State;
  std::unique_ptr<State> state;
};

} // namespace autopar::session

#endif // AUTOPAR_LIB_SESSION_SERVINGPREDICTOR_H
