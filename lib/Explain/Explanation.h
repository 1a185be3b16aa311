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

/// Builds a derivation.
class Explanation {
public:
  /// Adds an input; `term` explains it. A name that is taken gets a number:
  /// "caches/decoder/kv#2".
  Explanation &input(std::string name, std::string value,
                     std::string term = "");
  Explanation &input(std::string name, Checked value, std::string term = "");
  Explanation &input(std::string name, int64_t value, std::string term = "");
  Explanation &input(std::string name, double value, std::string term = "");
  /// Adds an input that is a figure of the hardware or the runtime.
  Explanation &figure(const hardware::Figure &figure);
  /// Adds a figure that the inputs depend on.
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

/// The name of a record: "gradients/model/model.embed_tokens.weight".
std::string recordName(const program::CostProgram &program,
                       const program::Resident &record);

/// Explains the time of one message or sum of `bytes` between two devices over
/// the named tier of `pool`; `folder` is the path of the bytes in the report.
Explanation explainPair(const hardware::Pool &pool, bool ideal,
                        program::CollectiveKind kind, const std::string &tier,
                        const std::string &folder, int64_t bytes);

/// The contribution of one record to a sum.
struct Contribution {
  std::string name, value, term;
};

/// Derives each number of a report: writes the formulas of the strategy's graph
/// in terms of other numbers of the report.
class Explainer {
public:
  explicit Explainer(const EvaluatedStep &step);
  Explanations run();
  /// Derivations of communication only.
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
  /// Adds `node`, by the formula that computed it.
  void add(const std::string &path, cost::NodeId node,
           Explanation explanation = {});
  void addSum(const std::string &path, const std::vector<Contribution> &parts,
              Explanation explanation = {});
  /// Adds the sum over all residents of `kind`: `column` times their number and
  /// `copies`.
  void addResidents(const std::string &path, program::Resident::Kind kind,
                    cost::NodeId cost::ResidentNodes::*column, const char *unit,
                    Checked copies, Explanation explanation = {});
  void addKernels(const std::string &path, program::FlopClass flopClass,
                  cost::NodeId cost::KernelNodes::*column,
                  Explanation explanation = {});
  /// Adds the sum over all launches: their time of arithmetic if `ofCompute`,
  /// else of memory, in ps.
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

/// Adds sums over the steps of a prefill.
void explainSteps(const EvaluatedStep &whole, Derivations &derivations);
/// The time of the step of `report` as a sum.
std::vector<report::WaterfallStep> waterfallOf(const Report &report);

} // namespace autopar::explanation

#endif // AUTOPAR_LIB_EXPLAIN_EXPLANATION_H
