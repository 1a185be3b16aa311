//===- Evaluation.h - One evaluation in progress ----------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_COST_EVALUATION_H
#define AUTOPAR_LIB_COST_EVALUATION_H

#include "autopar/Cost/CollectiveTime.h"
#include "autopar/Cost/Counts.h"
#include "autopar/Cost/Evaluate.h"
#include "autopar/Cost/Sizes.h"

namespace autopar {

/// What one kernel record computes and moves in one launch; nothing where it
/// is not launched.
struct KernelCost {
  bool launched = false;
  KernelFlops flops;
  KernelBytes bytes;
  /// Of one launch, with its share of the floor.
  double timeUs = 0;
};

/// A collective that spans devices and moves something.
struct CollectiveCost {
  const Collective *record = nullptr;
  GroupLayout layout;
  int64_t groupSize = 1;
  Checked bytes, wireBytes;
  CollectiveTime time;

  /// The measured curve nearest to the group's size; null where none served.
  const CollectiveCurve *curve() const;
};

/// Everything that the steps of an evaluation share. Each `add` function fills
/// its part of the report; errors are kept in `sizes`.
struct Evaluation {
  Evaluation(const CostProgram &program, const Plan &plan,
             const Machine &machine, const Runtime &runtime,
             const Workload &workload, int64_t microbatches = 1);

  const CostProgram &program;
  const Plan &plan;
  const Machine &machine;
  const Pool &pool;
  const Runtime &runtime;
  /// Of one microbatch; each of `microbatches` has caches of its own.
  const Workload &workload;
  int64_t microbatches;
  Sizes sizes;
  Network network;
  Report report;

  std::vector<KernelCost> kernels;
  std::vector<CollectiveCost> collectives;
  /// For each row of the report, the first of `collectives` in it.
  std::vector<size_t> rowStart;

  /// Figures and curves that a number of the report rests on, in order of
  /// first use.
  std::vector<const Figure *> figures;
  std::vector<std::pair<KernelKind, const KernelCurve *>> curves;
  std::vector<KernelKind> kindsWithoutCurve;
  /// Kernels larger than any that their curve was fitted to.
  std::vector<std::string> beyondFit;

  /// Parts of `overhead_time_us`.
  double floorTimeUs = 0;
  /// Temporaries that the KV capacity leaves room for.
  int64_t reservedBytes = 0;
  double memoryUtilization = 0;

  /// `figure`'s value, remembered as used.
  double use(const Figure &figure);
  /// The same, for a figure that counts; an error where it is no such count.
  int64_t useCount(const Figure &figure);
  void useCurve(KernelKind kind, const KernelCurve *curve);
  /// The devices of a group over the axes of the program with `ids`.
  GroupLayout layoutOf(const std::vector<AxisId> &ids) const;
  /// Whether any collective of the program spans devices, in whatever step.
  bool communicates() const;
};

/// `evaluate` on the devices of one stage, which run all of `program`.
Result<Report> evaluateDevice(const CostProgram &program, const Plan &plan,
                              const Machine &machine, const Runtime &runtime,
                              const Workload &workload,
                              int64_t microbatches = 1, bool explain = false);
/// `evaluate` where `plan` has stages.
Result<Report> evaluatePipeline(const CostProgram &program, const Plan &plan,
                                const Machine &machine, const Runtime &runtime,
                                const Workload &workload, bool explain);

void addPlacement(Evaluation &evaluation);
/// What is taken for granted of the loads of placed experts.
void addLoadAssumptions(const Evaluation &evaluation,
                        std::vector<Assumption> &assumptions);
void addMemory(Evaluation &evaluation);
void addFlops(Evaluation &evaluation);
void addCommunication(Evaluation &evaluation);
void addLatency(Evaluation &evaluation);
void addAssumptions(Evaluation &evaluation);
void addWarnings(Evaluation &evaluation);
void addDerivations(Evaluation &evaluation);

} // namespace autopar

#endif // AUTOPAR_LIB_COST_EVALUATION_H
