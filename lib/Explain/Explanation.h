//===- Explanation.h --------------------------------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_EXPLAIN_EXPLANATION_H
#define AUTOPAR_LIB_EXPLAIN_EXPLANATION_H

#include "NodeText.h"
#include "autopar/Explain/Explain.h"

#include <functional>

namespace autopar::explanation {

using evaluation::EvaluatedStep;
using report::BreakdownRow;
using report::Derivation;
using report::KernelRow;
using report::Report;

/// Builds the derivation of one number.
class Explanation {
public:
  /// Adds an input of the formula; `term` explains where its value comes from.
  /// If the name is taken, the input gets a number: "caches/decoder/kv#2".
  Explanation &input(std::string name, std::string value,
                     std::string term = "");
  Explanation &input(std::string name, Checked value, std::string term = "");
  Explanation &input(std::string name, int64_t value, std::string term = "");
  Explanation &input(std::string name, double value, std::string term = "");
  /// Adds an input that is a figure of the hardware or of the runtime.
  Explanation &figure(const hardware::Figure &figure);
  /// Adds a figure on which the inputs depend, as a term and a source.
  Explanation &restsOn(const hardware::Figure &figure);
  Explanation &restsOn(const hardware::KernelCurve &curve);
  Explanation &from(std::string source);
  Explanation &formula(std::string text) {
    derivation.formula = std::move(text);
    return *this;
  }
  Explanation &note(std::string text);

  Derivation derivation;

private:
  Explanation &addTerm(std::string path, std::string text);
};

/// Returns the name of a record: "gradients/model/model.embed_tokens.weight".
std::string recordName(const program::CostProgram &program,
                       const program::Resident &record);

/// Explains the time of one message, or one sum, of `bytes` bytes between two
/// devices over the tier of `pool` with the name `tier`. `folder` is the path
/// of the bytes in the report.
Explanation explainPair(const hardware::Pool &pool, bool ideal,
                        program::CollectiveKind kind, const std::string &tier,
                        const std::string &folder, int64_t bytes);

/// What one record contributes to a sum: its name, its value and the term that
/// explains it.
struct Contribution {
  std::string name, value, term;
};

/// Derives each number of a report: it writes the formulas of the strategy's
/// graph in terms of other numbers of the report.
class Explainer {
public:
  explicit Explainer(const EvaluatedStep &step);
  Explanations run();
  /// Returns only the derivations of communication.
  Derivations explainCalls();

private:
  void explainCommunication();
  void nameNodes();
  void explainDegree(const std::string &name);
  void explainMesh();
  void explainMachine();
  void explainPlacement();
  void explainWorkload();
  void explainModel();
  void explainResidents();
  void explainActivations();
  void explainProfile();
  void addLiveSet(const std::string &path, Checked peak,
                  cost::NodeId cost::LiveNodes::*sum,
                  const std::vector<cost::NodeId> &column);
  void explainRuntimeBytes();
  void explainMemory();
  void explainCapacity();
  void explainSquare();
  void explainFlops();
  void explainCollective(size_t row);
  void explainWireBytes(size_t row);
  void explainByNode(size_t row);
  void explainTiers(size_t row);
  Explanation explainLevels(size_t row);
  void explainCollectiveTime(size_t row);
  void explainLaunches();
  void explainOverhead();
  void explainHost();
  void explainStep();
  void explainRate();
  void explainBounds();
  void explainSerialKernels();
  void explainBreakdown();
  void explainKernels();
  void explainLaunchShares();
  void explainKernelSteps();
  struct KernelExplanation;
  void addShares(const cost::LaunchNodes &launch,
                 const std::map<std::string, size_t> &rowOf,
                 std::vector<KernelExplanation> &rows);
  void addKernelRows(std::vector<KernelExplanation> rows);
  void explainRows(
      const std::string &folder, const std::vector<BreakdownRow> &rows,
      const std::function<std::string(const KernelRow &)> &keyOf,
      const std::function<std::string(const program::Collective &)> &keyOfCall);

  void add(const std::string &path, std::string formula,
           Explanation explanation);
  /// Adds the derivation of the number at `path` from the formula that computed
  /// `node`.
  void add(const std::string &path, cost::NodeId node,
           Explanation explanation = {});
  void addSum(const std::string &path, const std::vector<Contribution> &parts,
              Explanation explanation = {});
  /// Adds the derivation of a sum over all residents of `kind`: their number in
  /// `column`, times their count and `copies`.
  void addResidents(const std::string &path, program::Resident::Kind kind,
                    cost::NodeId cost::ResidentNodes::*column, const char *unit,
                    Checked copies, Explanation explanation = {});
  void addKernels(const std::string &path, program::FlopClass flopClass,
                  cost::NodeId cost::KernelNodes::*column,
                  Explanation explanation = {});
  /// Adds the derivation of a sum over all launches: their time of arithmetic
  /// if `ofCompute`, else their time of memory traffic, in ps.
  void addLaunchTimes(const std::string &path, bool ofCompute,
                      std::string note);
  std::string us(Checked picoseconds) const;
  std::vector<uint32_t> workingKernels(const cost::LaunchNodes &launch) const;
  void rateFigures(const cost::LaunchNodes &launch, Explanation &explanation);

  const EvaluatedStep &step;
  const Report &report;
  const cost::TotalNodes &total;
  NodeText text;
  Explanations result;
};

/// Adds the derivations of sums over the steps of a prefill.
void explainSteps(const EvaluatedStep &whole, Derivations &derivations);
/// Returns the time of the step of `report` as a sum of parts, from the time at
/// peak rates on.
std::vector<report::WaterfallStep> waterfallOf(const Report &report);

} // namespace autopar::explanation

#endif // AUTOPAR_LIB_EXPLAIN_EXPLANATION_H
