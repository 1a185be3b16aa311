//===- NodeText.h -----------------------------------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_EXPLAIN_NODETEXT_H
#define AUTOPAR_LIB_EXPLAIN_NODETEXT_H

#include "autopar/Evaluate/EvaluatedStep.h"

#include <map>
#include <string>

namespace autopar::explanation {

/// Returns `value` in decimal: integers without an exponent, other numbers with
/// the fewest digits that read back as the same double.
std::string decimal(double value);

/// Returns the text of a multiple: "80 x text"; only `text` if the count is 1.
std::string times(const std::string &count, const std::string &text);

/// Writes nodes of a strategy's graph as formulas for readers.
class NodeText {
public:
  explicit NodeText(const evaluation::EvaluatedStep &step)
      : step(step), graph(step.strategy.graph) {}

  /// Names `node` by the path of a number in the report.
  void name(cost::NodeId node, const std::string &path) { names[node] = path; }
  const std::map<cost::NodeId, std::string> &allNames() const { return names; }

  /// Returns the text of a product of sizes: "80 x 8192 x (64 by tp(8)) x 128 x
  /// 2".
  std::string sizes(cost::NodeId node) const;
  /// Returns the formula of `node` in terms of the last parts of the names of
  /// other nodes: "max(0, budget_bytes - weight_bytes)". Adds the named nodes
  /// that the formula uses to `used`.
  std::string formula(cost::NodeId node, std::vector<cost::NodeId> &used) const;
  /// Returns the value of `node` with all digits.
  std::string value(cost::NodeId node) const;

private:
  enum class Bind { sum, product, factor };

  std::string sizes(cost::NodeId node, Bind bind) const;
  std::string factors(cost::NodeId node) const;
  std::string splitText(cost::NodeId extent, cost::NodeId devices,
                        const char *rule) const;
  std::string axesText(cost::NodeId devices) const;
  bool isAxes(cost::NodeId node) const;
  std::string mostLoadedText(const cost::Node &node) const;
  std::string ratioText(cost::NodeId id) const;
  std::string roofText(const cost::Node &node, const std::string &ratio) const;
  std::string pairsText(const cost::Node &node, cost::NodeId id) const;
  std::string formula(cost::NodeId node, Bind bind, bool isRoot,
                      std::vector<cost::NodeId> &used) const;
  std::string leafName(cost::NodeId node) const;

  const evaluation::EvaluatedStep &step;
  const cost::Graph &graph;
  std::map<cost::NodeId, std::string> names;
};

} // namespace autopar::explanation

#endif // AUTOPAR_LIB_EXPLAIN_NODETEXT_H
