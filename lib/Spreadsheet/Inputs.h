//===- Inputs.h - Cells that people change -------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_SPREADSHEET_INPUTS_H
#define AUTOPAR_LIB_SPREADSHEET_INPUTS_H

#include "Book.h"

#include "autopar/Evaluate/PricedStep.h"

#include <map>
#include <set>

namespace autopar::spreadsheet {

/// The sheet of the inputs of formulas. Each input is a cell whose name
/// includes its unit.
class Inputs {
public:
  explicit Inputs(const evaluation::PricedStep &step) : step(step) {}

  /// Return the name of the cell of an input. The cell is added when its name
  /// is first asked for.
  std::string leaf(cost::NodeId id);
  std::string symbol(cost::Symbol symbol);
  std::string figure(const hardware::Figure &figure, const std::string &name,
                     const char *section);
  /// The names of the cells of a tier's bandwidth, efficiency and latency.
  struct TierNames {
    std::string bandwidth, efficiency, latency;
  };
  TierNames tier(const hardware::Tier &tier);

  void write(Book &book) const;

private:
  struct Row {
    std::string name;
    double value = 0;
    std::string source;
    /// The flag that changes the input: a path for `--set`, or another flag.
    std::string flag;
  };

  std::string ofUse(uint32_t index);
  std::string layoutLeaf(const cost::Node &node, double value);
  std::string add(const char *section, const std::string &name, Row row);

  const evaluation::PricedStep &step;
  std::map<std::string, std::vector<Row>> sections;
  std::set<std::string> taken;
  /// The names that were given before, by key.
  std::map<std::string, std::string> known;
};

} // namespace autopar::spreadsheet

#endif // AUTOPAR_LIB_SPREADSHEET_INPUTS_H
