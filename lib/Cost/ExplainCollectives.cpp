//===- ExplainCollectives.cpp ---------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Explain.h"

#include <cmath>

using namespace autopar;

static std::string pathOf(size_t row) {
  return "communication.collectives[" + std::to_string(row) + "].";
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

/// The records of a row are those that its name lists.
std::vector<const Contribution<Collective> *>
Explainer::membersOf(size_t row) const {
  std::string names = ", " + report.communication.collectives[row].name + ", ";
  std::vector<const Contribution<Collective> *> members;
  for (const Contribution<Collective> &part : alone.collectives)
    if (names.find(", " + part.record->name + ", ") != std::string::npos)
      members.push_back(&part);
  return members;
}

void Explainer::explainCollective(size_t row) {
  const auto &record = report.communication.collectives[row];
  const CollectiveCost &cost = evaluation.collectives[evaluation.rowStart[row]];
  const std::string path = pathOf(row);
  Explanation count, group, bytes;
  for (const auto *part : membersOf(row))
    count.input(part->name, part->record->count);
  add(path + "count", "sum of the inputs",
      count.from("cost program of the IR"));
  for (const std::string &axis : record.axes)
    group.input("mesh." + axis, report.mesh.degrees.at(axis));
  add(path + "group_size", "product of the inputs", group);
  bool gathers = cost.record->kind == CollectiveKind::all_gather;
  Checked operand = gathers ? floorDiv(Checked(record.bytes), record.groupSize)
                            : Checked(record.bytes);
  bytes.input("collectives/" + cost.record->name, operand,
              text.operand(*cost.record));
  if (gathers)
    bytes.input(path + "group_size", record.groupSize);
  add(path + "bytes", gathers ? "product of the inputs" : "the input",
      bytes.note("what each rank puts in").from("cost program of the IR"));
  explainWireBytes(row);
  explainCollectiveTime(row);
}

void Explainer::explainWireBytes(size_t row) {
  const auto &record = report.communication.collectives[row];
  const std::string path = pathOf(row);
  CollectiveKind kind =
      evaluation.collectives[evaluation.rowStart[row]].record->kind;
  Explanation wire;
  if (kind == CollectiveKind::permute)
    return add(path + "wire_bytes_per_device", "the input",
               wire.input(path + "bytes", record.bytes));
  add(path + "wire_bytes_per_device",
      kind == CollectiveKind::all_reduce
          ? "ceil(2 * (group_size - 1) / group_size * bytes)"
          : "ceil((group_size - 1) / group_size * bytes)",
      wire.input(path + "group_size", record.groupSize)
          .input(path + "bytes", record.bytes));
}

void Explainer::explainCommunication() {
  using Part = Contribution<Collective>;
  for (size_t i = 0; i < report.communication.collectives.size(); ++i)
    explainCollective(i);
  auto each = [](const Part &part, const std::string &value) {
    return times(part.record->count, value);
  };
  auto row = [](const Part &part) -> const Report::CollectiveRow & {
    return part.report.communication.collectives.front();
  };
  addSum(
      "communication.bytes_per_device", alone.collectives,
      [](const Report &part) {
        return Checked(part.communication.bytesPerDevice);
      },
      [&](const Part &part) {
        return each(part, std::to_string(row(part).wireBytesPerDevice) + " B");
      });
  addSum(
      "latency.communication_time_us", alone.collectives,
      [](const Report &part) { return part.latency.communicationTimeUs; },
      [&](const Part &part) {
        return each(part, decimal(row(part).timeUs) + " us");
      },
      Explanation().note("none is hidden by kernels"));
  explainCommunicationBound();
}

void Explainer::explainCommunicationBound() {
  Explanation tiers;
  for (const CollectiveCost &cost : evaluation.collectives)
    tiers.restsOn(cost.time.tier->bandwidth);
  tiers.note("of one call, wire bytes over the bandwidth of each level, or the "
             "expected time where that is less");
  addSum(
      "latency.bounds.communication_time_us", alone.collectives,
      [](const Report &part) {
        return part.latency.bounds.communicationTimeUs;
      },
      [&](const Contribution<Collective> &part) {
        double ideal = part.report.latency.bounds.communicationTimeUs;
        return times(part.record->count,
                     decimal(ideal / static_cast<double>(part.record->count)) +
                         " us");
      },
      tiers);
}

//===----------------------------------------------------------------------===//
// Times
//===----------------------------------------------------------------------===//

namespace {

/// How a time is read off the measured curves of one tier and collective.
class CurveReading {
public:
  CurveReading(const CollectiveCost &cost, const std::string &row,
               const Report::CollectiveRow &record)
      : cost(cost), record(record) {
    const std::string &bandwidth = cost.time.tier->bandwidth.path;
    path = bandwidth.substr(0, bandwidth.rfind('.')) + ".collectives." +
           record.kind + ".";
    explanation.input(row + "bytes", record.bytes);
    explanation.input(row + "group_size", record.groupSize);
  }
  /// Returns the formula; the inputs are in `explanation`.
  std::string read(const std::map<int64_t, CollectiveCurve> &curves);
  /// Says how curves came about that are not as they were measured.
  void addScaling(const std::map<int64_t, CollectiveCurve> &curves);

  Explanation explanation;

private:
  std::string readCurve(int64_t size, const CollectiveCurve &curve);
  void addNote(const std::string &text) {
    std::string &note = explanation.derivation.note;
    note += (note.empty() ? "" : "; ") + text;
  }

  const CollectiveCost &cost;
  const Report::CollectiveRow &record;
  std::string path;
};

} // namespace

/// The time at the row's bytes on one curve. As `interpolate`.
std::string CurveReading::readCurve(int64_t size,
                                    const CollectiveCurve &curve) {
  explanation.from(curve.source.str());
  auto bytesAt = [&](size_t point) {
    return decimal(
        std::exp2(curve.firstLog2Bytes + static_cast<double>(point)));
  };
  auto use = [&](size_t point) {
    std::string term = "at " + bytesAt(point) + " B";
    if (!curve.measuredUs.empty())
      term += ", scaled from " + decimal(curve.measuredUs[point]) + " us";
    explanation.input(path + std::to_string(size) + ".time_us[" +
                          std::to_string(point) + "]",
                      curve.timeUs[point], term);
  };
  double bytes = std::max(cost.bytes.real(), 1.0);
  double knot = std::log2(bytes) - curve.firstLog2Bytes;
  size_t last = curve.timeUs.size() - 1;
  size_t low = knot <= 0 ? 0 : std::min(static_cast<size_t>(knot), last);
  use(low);
  if (knot == static_cast<double>(low))
    return "the curve's time_us";
  if (knot < 0) {
    addNote("extrapolated: constant below the least bytes measured");
    return "the curve's time_us";
  }
  if (low == last) {
    addNote("extrapolated: in proportion to the bytes above the most measured");
    return "the curve's time_us * bytes / " + bytesAt(last);
  }
  use(low + 1);
  addNote("interpolated: log-log between points of the curve");
  return "2^((1 - f) * log2(first time_us) + f * log2(second time_us)), f = "
         "log2(bytes / " +
         bytesAt(low) + ")";
}

/// As `interpolateSize`.
std::string
CurveReading::read(const std::map<int64_t, CollectiveCurve> &curves) {
  auto above = curves.lower_bound(record.groupSize);
  if (above != curves.end() && above->first == record.groupSize)
    return readCurve(above->first, above->second);
  if (above == curves.begin() || above == curves.end()) {
    auto near = above == curves.end() ? std::prev(above) : above;
    std::string size = std::to_string(near->first);
    addNote("extrapolated from " + size + " to " +
            std::to_string(record.groupSize) +
            " devices: in proportion to the bytes on the wire");
    if (cost.record->kind == CollectiveKind::permute)
      return readCurve(near->first, near->second);
    return "(" + readCurve(near->first, near->second) +
           ") * (group_size - 1) / group_size / ((" + size + " - 1) / " + size +
           ")";
  }
  auto below = std::prev(above);
  addNote("interpolated between " + std::to_string(below->first) + " and " +
          std::to_string(above->first) + " devices: log-log in their number");
  std::string low = readCurve(below->first, below->second);
  std::string high = readCurve(above->first, above->second);
  return "2^((1 - g) * log2(a) + g * log2(b)), g = log(group_size / " +
         std::to_string(below->first) + ") / log(" +
         std::to_string(above->first) + " / " + std::to_string(below->first) +
         "), a = " + low + " at " + std::to_string(below->first) +
         " devices, b = " + high + " at " + std::to_string(above->first);
}

void CurveReading::addScaling(
    const std::map<int64_t, CollectiveCurve> &curves) {
  if (curves.begin()->second.measuredUs.empty())
    return;
  const Tier &tier = *cost.time.tier;
  for (const Figure *figure :
       {&tier.bandwidth, &tier.efficiency, &tier.latency})
    if (figure->source.replaced)
      explanation.restsOn(*figure);
  addNote("measured on another link: of each time, what wire bytes / "
          "(bandwidth * efficiency) make of it goes with these, the rest with "
          "latency");
}

void Explainer::explainCollectiveTime(size_t row) {
  const auto &record = report.communication.collectives[row];
  const CollectiveCost &cost = evaluation.collectives[evaluation.rowStart[row]];
  const Tier &tier = *cost.time.tier;
  const std::string path = pathOf(row);
  bool ideal = evaluation.runtime.ideal;
  double ring = static_cast<double>(record.wireBytesPerDevice) /
                tier.bandwidth.value * 1e6;
  bool faster = record.timeUs < ring * (1 - 1e-9);
  auto curves = tier.curves.find(cost.record->kind);
  if (cost.curve() && curves != tier.curves.end() && (!ideal || faster)) {
    CurveReading reading(cost, path, record);
    std::string formula = reading.read(curves->second);
    reading.addScaling(curves->second);
    return add(path + "time_us", formula, reading.explanation);
  }
  Explanation levels;
  levels.input(path + "wire_bytes_per_device", record.wireBytesPerDevice);
  bool hop = cost.record->kind == CollectiveKind::permute;
  if (!ideal && !hop)
    levels.input(path + "group_size", record.groupSize);
  for (const Tier &level : evaluation.pool.tiers) {
    if (!cost.time.hierarchical && &level != &tier)
      continue;
    if (!ideal)
      levels.figure(level.latency).figure(level.efficiency);
    levels.figure(level.bandwidth);
    if (&level == &tier)
      break;
  }
  if (cost.time.hierarchical)
    levels.note("summed over the levels of the network, each with its devices "
                "and bytes; a level with a measured curve takes that");
  std::string formula =
      ideal
          ? "wire_bytes_per_device / bandwidth * 1e6"
          : std::string("latency") + (hop ? "" : " * ceil(log2(group_size))") +
                " + wire_bytes_per_device / (bandwidth * efficiency) * 1e6";
  add(path + "time_us",
      (cost.time.hierarchical ? "sum over the levels of " : "") + formula,
      levels);
}
