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
  /// A bundled name or a path.
  std::string model;
  /// bf16, fp8, fp8_block, nvfp4; empty: the checkpoint's.
  std::string weightFormat;
  /// Absent: as the runtime chooses.
  std::optional<ElementType> kvFormat = std::nullopt;
  /// Absent: the runtime's default.
  std::optional<double> memoryUtilization = std::nullopt;
  /// There are tp * dp devices; dp counts replicas of attention.
  int64_t tp = 1, dp = 1, ep = 1, etp = 1;
  /// The runtime may have a version: "vllm@0.19".
  std::string system, runtime;
  /// Token budget of a step, by which the runtime sizes its temporaries.
  /// Absent: the runtime's default.
  std::optional<int64_t> stepTokens = std::nullopt;
  /// See `RequestHost`. Absent: the runtime's defaults.
  std::optional<int64_t> streamInterval = std::nullopt;
  std::optional<int64_t> receiveInterval = std::nullopt;
};

/// Memory of one device of a started deployment, in bytes.
struct ServedMemory {
  int64_t weightBytes = 0, temporaryBytes = 0, runtimeBytes = 0;
  int64_t kvPoolBytes = 0, budgetBytes = 0;
  /// Tokens per replica.
  int64_t kvTokens = 0;
};

/// Properties of a deployment that do not depend on the load.
struct ServedFacts {
  /// Tokens that the KV caches of all replicas hold.
  int64_t kvTokens = 0;
  /// FLOPs of one output token, and of a whole prompt.
  double decodeFlops = 0, promptFlops = 0;
  /// Dense peak of all devices in the format of the weights, FLOP/s.
  double peakFlops = 0;
  int64_t devicesPerNode = 0;
  bool hasPredictionHead = false, hasExperts = false;
};

/// Predicts services. Imports each model once, and makes each strategy once.
class ServingPredictor {
public:
  explicit ServingPredictor(std::vector<hardware::Override> overrides = {});
  ~ServingPredictor();

  Result<serving::SteadyState> predict(const ServedPlan &plan,
                                       const serving::ServedLoad &load);
  /// The same if workers with another plan run the prefills.
  Result<serving::DisaggregatedState>
  predict(const ServedPlan &prefill, const ServedPlan &decode,
          const serving::Disaggregation &pools,
          const serving::ServedLoad &load);
  /// Output tokens per second of a static batch.
  Result<double> predictBatch(const ServedPlan &plan,
                              const serving::ServedLoad &batch);
  /// Memory with sequences of this length.
  Result<ServedMemory> memory(const ServedPlan &plan, int64_t sequenceTokens);
  Result<ServedFacts> facts(const ServedPlan &plan, double promptTokens,
                            double answerTokens);
  /// The weight format of a model's checkpoint: "fp8", "fp4" or "bf16".
  Result<std::string> checkpointFormat(const std::string &model);
  /// Returns an error for the first override that nothing has used so far.
  std::optional<Error>
  unusedOverride(const std::set<std::string> &otherOwners = {}) const;

private:
  struct State;
  std::unique_ptr<State> state;
};

} // namespace autopar::session

#endif // AUTOPAR_LIB_SESSION_SERVINGPREDICTOR_H
