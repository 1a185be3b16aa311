//===- Explain.h - How each number came about -------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_COST_EXPLAIN_H
#define AUTOPAR_LIB_COST_EXPLAIN_H

#include "ExplainRecords.h"

namespace autopar {

/// A derivation as it is put together.
class Explanation {
public:
  /// Adds an input, with `term` to say how it came about. A name that is taken
  /// gets a number: "caches/decoder/kv#2".
  Explanation &input(std::string name, Checked value, std::string term = "");
  Explanation &input(std::string name, int64_t value, std::string term = "");
  Explanation &input(std::string name, double value, std::string term = "");
  /// Adds an input that is a figure of the hardware or the runtime.
  Explanation &figure(const Figure &figure);
  /// Names a figure that the inputs rest on.
  Explanation &restsOn(const Figure &figure);
  Explanation &restsOn(const KernelCurve &curve);
  Explanation &from(std::string source);
  Explanation &note(std::string text);

  Derivation derivation;

private:
  Explanation &add(std::string name, std::string value, std::string term);
};

/// `value` in decimal: whole numbers without an exponent, others in the fewest
/// digits that read back as the same double.
std::string decimal(double value);

/// Writes down how each number of a report came about.
class Explainer {
public:
  explicit Explainer(Evaluation &evaluation)
      : evaluation(evaluation), report(evaluation.report), text(evaluation),
        alone(evaluation) {}
  void run();

private:
  void explainDegree(const std::string &name);
  void explainMesh();
  void explainPlacement();
  void explainWorkload();
  void explainModel();
  void explainDevice();
  void explainRuntimeBytes();
  void explainStage();
  void explainActivations();
  void explainBudget();
  void explainKvSizes();
  void explainStatePerSequence();
  void explainKvCapacity();
  void explainReserve();
  void explainFlops();
  void explainCommunication();
  void explainCommunicationBound();
  void explainCollective(size_t row);
  void explainWireBytes(size_t row);
  void explainCollectiveTime(size_t row);
  std::vector<const Contribution<Collective> *> membersOf(size_t row) const;
  void explainKernels();
  void explainOverhead();
  void explainStep();
  void explainBounds();

  void add(const std::string &path, std::string formula,
           Explanation explanation) {
    explanation.derivation.formula = std::move(formula);
    report.derivations[path] = std::move(explanation.derivation);
  }
  /// A number that is the sum of what each of `records` contributes to it:
  /// `value` of its report, explained by `term`.
  template <typename Record, typename Value, typename Term>
  void addSum(const std::string &path, const std::vector<Record> &records,
              Value value, Term term, Explanation explanation = {}) {
    for (const Record &record : records)
      if (auto part = value(record.report); part > decltype(part)(0))
        explanation.input(record.name, part, term(record));
    add(path, "sum of the inputs",
        std::move(explanation.from("cost program of the IR")));
  }
  /// The time of `launch` without its floor, as the roofline has it.
  std::string roofText(const LaunchContribution &launch) const;
  /// Times of the launches that `time` picks, with the figures behind them.
  void addLaunchTimes(const std::string &path,
                      double (*time)(const Report &report), std::string note);

  Evaluation &evaluation;
  Report &report;
  RecordText text;
  Contributions alone;
};

} // namespace autopar

#endif // AUTOPAR_LIB_COST_EXPLAIN_H
