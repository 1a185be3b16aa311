//===- DifferencesJson.cpp ------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Write/Json.h"

#include "autopar/Report/PlanDifferences.h"

#include "autopar/Support/JsonText.h"

using namespace autopar;
using namespace autopar::report;
using namespace autopar::writing;
using json = nlohmann::ordered_json;

namespace {
struct ValueJson {
  json operator()(std::monostate) const { return {}; }
  json operator()(Checked value) const { return writeInteger(value); }
  template <typename T>
  json operator()(const T &value) const {
    return value;
  }
};
} // namespace

static json writePlan(const PlanOutcome &plan) {
  json axes = json::array();
  for (const Report::Axis &axis : plan.report.mesh.axes)
    axes.push_back({{"name", axis.name}, {"size", axis.size}});
  return {{"name", plan.name},
          {"axes", std::move(axes)},
          {"devices", plan.report.mesh.devices},
          {"hardware", plan.report.machine.hardware},
          {"nodes", plan.report.machine.nodes},
          {"runtime", plan.report.machine.runtime}};
}

/// Returns `{"different": [...], "equal": n}`. An entry has the keys that name
/// it and its value on each side; null if a side has none.
template <typename T, typename Name, typename Side>
static json writePairs(const std::vector<PlanDifferences::Pair<T>> &pairs,
                       size_t equal, Name name, Side side) {
  json different = json::array();
  for (const auto &[a, b] : pairs) {
    json entry = name(a ? *a : *b);
    entry["a"] = a ? side(*a) : json();
    entry["b"] = b ? side(*b) : json();
    different.push_back(std::move(entry));
  }
  return {{"different", std::move(different)}, {"equal", equal}};
}

static json writeIR(const PlanDifferences &differences) {
  json root;
  root["collectives"] = writePairs(
      differences.collectives, differences.equal.collectives,
      [](const PlanOutcome::Collective &one) -> json {
        return {{"layer", one.layer},
                {"kind", one.kind},
                {"axes", one.axes},
                {"dims", one.dims}};
      },
      [](const PlanOutcome::Collective &one) -> json {
        return {{"count", one.count}};
      });
  root["tensors"] = writePairs(
      differences.tensors, differences.equal.tensors,
      [](const PlanOutcome::Tensor &one) -> json {
        return {{"layer", one.layer}, {"name", one.name}};
      },
      [](const PlanOutcome::Tensor &one) -> json {
        return {{"layout", one.layout}, {"format", one.format}};
      });
  return root;
}

static json writeNumbers(const PlanDifferences &differences) {
  json different = json::array();
  for (const PlanDifferences::Row &row : differences.rows) {
    std::optional<double> ratio = row.ratio();
    different.push_back({{"path", row.path},
                         {"a", std::visit(ValueJson(), row.a)},
                         {"b", std::visit(ValueJson(), row.b)},
                         {"ratio", ratio ? json(*ratio) : json()}});
  }
  return {{"different", std::move(different)},
          {"equal", differences.equal.rows}};
}

static json writeCollectives(const PlanDifferences &differences) {
  return writePairs(
      differences.times, differences.equal.times,
      [](const Report::CollectiveRow &one) -> json {
        return {{"kind", one.kind}, {"name", one.name}, {"axes", one.axes}};
      },
      [](const Report::CollectiveRow &one) -> json {
        return {{"group_size", one.groupSize},
                {"count", one.count},
                {"bytes", one.bytes},
                {"wire_bytes_per_device", one.wireBytesPerDevice},
                {"time_us", one.timeUs}};
      });
}

std::string autopar::writing::writeJson(const PlanDifferences &differences) {
  json root;
  root["schema"] = "autopar.diff/1";
  root["model"] = differences.a->report.model.name;
  root["a"] = writePlan(*differences.a);
  root["b"] = writePlan(*differences.b);
  root["ir"] = writeIR(differences);
  root["report"] = writeNumbers(differences);
  root["collectives"] = writeCollectives(differences);
  root["warnings"] = {{"only_a", differences.warningsOfA},
                      {"only_b", differences.warningsOfB},
                      {"both", differences.equal.warnings}};
  return printJson(root);
}
