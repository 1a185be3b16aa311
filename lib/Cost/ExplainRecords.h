//===- ExplainRecords.h - What each record contributes ----------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_COST_EXPLAINRECORDS_H
#define AUTOPAR_LIB_COST_EXPLAINRECORDS_H

#include "Evaluation.h"

namespace autopar {

/// The program of `evaluation` without its records.
CostProgram frameOf(const Evaluation &evaluation);
/// What `program`, a part of the program of `evaluation`, costs under
/// everything else that it was given.
Report reportOf(const CostProgram &program, const Evaluation &evaluation,
                const Workload &workload, int64_t microbatches = 1);

/// "80 x text"; `text` of a count of 1.
std::string times(int64_t count, const std::string &text);

/// A record of the cost program, and what the program would cost with nothing
/// else in it: what the record contributes to each sum of the report.
template <typename Record>
struct Contribution {
  const Record *record = nullptr;
  /// "weights/decoder/q_proj".
  std::string name;
  Report report;
};

/// Kernels that the runtime launches as one, named by the first.
struct LaunchContribution {
  std::vector<const Kernel *> kernels;
  std::string name;
  Report report;
  double floorUs = 0;
  std::vector<const Figure *> figures;
  const KernelCurve *curve = nullptr;
  int64_t count = 0;
};

/// Contributions of the records of one evaluation, in program order.
struct Contributions {
  explicit Contributions(const Evaluation &evaluation);

  std::vector<Contribution<Resident>> weights, caches, states;
  std::vector<Contribution<Activation>> activations;
  std::vector<Contribution<Kernel>> kernels;
  std::vector<Contribution<Collective>> collectives;
  std::vector<LaunchContribution> launches;

private:
  void addResidents(const Evaluation &evaluation);
  void addKernels(const Evaluation &evaluation);
  void addLaunches(const Evaluation &evaluation);
};

/// The caches and states of one sequence alone.
std::vector<Contribution<Resident>>
keptOfOneSequence(const Evaluation &evaluation);

/// Writes records as products of sizes: "80 x [8192, 64 by tp(8), 128] x 2 B".
class RecordText {
public:
  explicit RecordText(const Evaluation &evaluation) : evaluation(evaluation) {}

  /// Whether dimensions are written as one device holds them.
  enum class Side { logical, local };

  std::string elements(const Resident &record) const;
  /// The same of a routed expert's weights, as far as a token uses them.
  std::string activeElements(const Resident &record) const;
  std::string checkpointBytes(const Resident &record) const;
  std::string bytes(const Resident &record) const;
  std::string bytesPerToken(const Resident &record, Side side) const;
  std::string bytesPerSequence(const Resident &record) const;
  std::string bytes(const Activation &record) const;
  std::string operand(const Collective &record) const;
  std::string flops(const Kernel &record, Side side) const;
  std::string fullSquareFlops(const Kernel &record) const;
  std::string weightsAndKvRead(const LaunchContribution &launch) const;

private:
  std::string hottestText(std::optional<uint32_t> kind) const;
  std::string text(const Dim &dim, Side side, bool paged) const;
  std::string text(const Dims &dims, Side side, int32_t paged = -1) const;
  std::string matrices(const Kernel &record, Side side) const;
  std::string ofOneSequence(const Resident &record, const Dims &shape,
                            Side side) const;

  const Evaluation &evaluation;
};

} // namespace autopar

#endif // AUTOPAR_LIB_COST_EXPLAINRECORDS_H
