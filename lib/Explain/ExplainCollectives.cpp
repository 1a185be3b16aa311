//===- ExplainCollectives.cpp ---------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Explanation.h"

#include <cmath>

using namespace autopar;
using namespace autopar::cost;
using namespace autopar::evaluation;
using namespace autopar::explanation;
using namespace autopar::hardware;
using namespace autopar::program;
using namespace autopar::report;
using namespace autopar::schedule;

static constexpr const char *byNodeSource =
    "DeepEP (deepseek-ai/DeepEP), README: kernels with NVLink and RDMA "
    "forwarding";

static std::string pathOf(size_t row) {
  return "communication.collectives[" + std::to_string(row) + "].";
}

//===----------------------------------------------------------------------===//
// Derivations of bytes of collectives
//===----------------------------------------------------------------------===//

void Explainer::explainCollective(size_t row) {
  const auto &record = report.communication.collectives[row];
  const CollectiveCall &cost = step.calls[step.membersOfRow[row].front()];
  const std::string path = pathOf(row);
  Explanation count, group;
  for (size_t member : step.membersOfRow[row])
    count.input("collectives/" + step.calls[member].record->name,
                step.calls[member].count);
  add(path + "count", "sum of the inputs",
      count.from("cost program of the IR"));
  for (const std::string &axis : record.axes)
    group.input("mesh." + axis, report.mesh.degrees.at(axis));
  add(path + "group_size", "product of the inputs", group);
  add(path + "bytes", "the input",
      Explanation()
          .input("collectives/" + cost.record->name, cost.bytes,
                 text.sizes(cost.nodes->bytes) + " B")
          .note("bytes of the parts of all ranks if it gathers them, else of "
                "each rank's input")
          .from("cost program of the IR"));
  if (cost.route->byNode)
    explainByNode(row);
  else
    explainWireBytes(row);
  explainCollectiveTime(row);
}

void Explainer::explainWireBytes(size_t row) {
  const auto &record = report.communication.collectives[row];
  const std::string path = pathOf(row);
  CollectiveKind kind = step.calls[step.membersOfRow[row].front()].record->kind;
  const Algorithm &rule = ruleOf(kind);
  std::string sent = sentText(rule, "group_size");
  Explanation wire;
  if (!sent.empty())
    wire.input(path + "group_size", record.groupSize);
  add(path + "wire_bytes_per_device",
      sent.empty() ? "the input" : "ceil(" + sent + " * bytes)",
      wire.input(path + "bytes", record.bytes));
  explainTiers(row);
}

/// Explains how many nodes a token goes to, in the mean.
static Explanation explainNodes(const NodeDispatch &dispatch) {
  const std::string of = "parallel.all_to_all by_node.";
  return Explanation()
      .input(of + "top_k", dispatch.topK)
      .input(of + "experts", dispatch.experts)
      .input(of + "groups", dispatch.groups)
      .input(of + "keep", dispatch.kept)
      .note("M = keep * experts / groups are in the groups that a token keeps, "
            "c(g) of them on one node, P(g) hypergeometric; all choices are "
            "taken as alike")
      .from("DeepSeek-V3 (arXiv:2412.19437), section 2.1.2: node-limited "
            "routing");
}

/// Explains the bytes of tokens that go to each node only once, and from there
/// to each device of the node.
void Explainer::explainByNode(size_t row) {
  const auto &record = report.communication.collectives[row];
  const CollectiveCall &cost = step.calls[step.membersOfRow[row].front()];
  const std::string path = pathOf(row);
  if (record.nodesPerToken)
    add(path + "nodes_per_token",
        "nodes * (1 - sum over g of P(g) * C(M - c(g), top_k) / C(M, top_k))",
        explainNodes(*cost.record->byNode));
  Explanation wire;
  for (size_t i = 0; i < record.wireBytesByTier.size(); ++i) {
    const RouteLevel &level = cost.route->levels[i];
    const auto &[tier, sent] = record.wireBytesByTier[i];
    auto size = static_cast<double>(level.size);
    double rows = level.copies * (size - 1) / size / level.wirePerByte;
    add(path + "wire_bytes_by_tier." + tier,
        "bytes / " + decimal(rows) + " * " + decimal(level.copies) + " * (" +
            decimal(size) + " - 1) / " + decimal(size),
        Explanation()
            .input(path + "bytes", record.bytes)
            .note("rows of a token that go to other domains of the tier below, "
                  "one row per domain")
            .from(byNodeSource));
    wire.input(path + "wire_bytes_by_tier." + tier, sent);
  }
  add(path + "wire_bytes_per_device", "sum of the inputs, to a millionth",
      wire);
}

/// Explains which destinations a device reaches over which tier of the network.
void Explainer::explainTiers(size_t row) {
  const auto &record = report.communication.collectives[row];
  const Route &route = *step.calls[step.membersOfRow[row].front()].route;
  const std::string path = pathOf(row);
  int64_t below = 1;
  for (size_t i = 0; i < record.wireBytesByTier.size(); ++i) {
    int64_t joined = below * route.levels[i].size;
    const std::string &tier = record.wireBytesByTier[i].first;
    add(path + "wire_bytes_by_tier." + tier,
        "bytes * (" + std::to_string(joined) + " - " + std::to_string(below) +
            ") / group_size",
        Explanation()
            .input(path + "bytes", record.bytes)
            .input(path + "group_size", record.groupSize)
            .note("of the destinations, " + std::to_string(joined) +
                  " in a domain of " + tier + ", but for " +
                  std::to_string(below) +
                  (i == 0 ? ", the device itself" : " that are nearer")));
    below = joined;
  }
}

void Explainer::explainCommunication() {
  std::vector<Contribution> sent, time;
  Checked all = 0;
  for (size_t row = 0; row < report.communication.collectives.size(); ++row)
    explainCollective(row);
  Explanation bound;
  for (const CollectiveCall &cost : step.calls) {
    std::string name = "collectives/" + cost.record->name;
    std::string count = std::to_string(cost.count);
    Checked wire = step.whole(cost.nodes->wireBytes);
    Checked each = step.whole(cost.nodes->timePs);
    double boundUs = step.real(cost.nodes->boundUs);
    sent.push_back(
        {name, (wire * cost.count).str(), times(count, wire.str() + " B")});
    time.push_back(
        {name, us(each * cost.count), times(count, us(each) + " us")});
    all += each * cost.count;
    bound.input(name, boundUs * static_cast<double>(cost.count),
                times(count, decimal(boundUs) + " us"));
    bound.restsOn(cost.route->tier->bandwidth);
  }
  addSum("communication.bytes_per_device", sent);
  Checked hidden = all - step.whole(total.communicationPs);
  if (!hidden.isZero())
    time.push_back({"hidden", "-" + us(hidden),
                    "ring steps that run beside attention on the previous "
                    "part: per layer, the smaller of its ring time and (n-1)/n "
                    "of its attention time (arXiv:2310.01889)"});
  addSum("latency.communication_time_us", time,
         Explanation().note(
             std::string(hidden.isZero() ? "none" : "no other") +
             " is hidden by kernels; each call is rounded to picoseconds"));
  add("latency.bounds.communication_time_us", "sum of the inputs",
      bound.note("per call, wire bytes over the bandwidth of each level, or "
                 "the expected time if that is less"));
}

//===----------------------------------------------------------------------===//
// Derivations of times of collectives
//===----------------------------------------------------------------------===//

namespace {

/// Explains a time that was read from the measured curves of one tier and one
/// kind of collective.
class CurveReading {
public:
  CurveReading(const CollectiveCall &cost, const std::string &row,
               const Report::CollectiveRow &record)
      : cost(cost), record(record) {
    const std::string &bandwidth = cost.route->tier->bandwidth.path;
    path = bandwidth.substr(0, bandwidth.rfind('.')) + ".collectives." +
           record.kind + ".";
    explanation.input(row + "bytes", record.bytes);
    explanation.input(row + "group_size", record.groupSize);
  }
  /// Returns the formula of the time. Its inputs are in `explanation`.
  std::string read(const std::map<int64_t, CollectiveCurve> &curves);
  /// Explains that curves were scaled from a measurement.
  void addScaling(const std::map<int64_t, CollectiveCurve> &curves);

  Explanation explanation;

private:
  std::string readCurve(int64_t size, const CollectiveCurve &curve);
  void addNote(const std::string &text) {
    std::string &note = explanation.derivation.note;
    note += (note.empty() ? "" : "; ") + text;
  }

  const CollectiveCall &cost;
  const Report::CollectiveRow &record;
  std::string path;
};

} // namespace

/// Reads the time for the row's bytes from one curve, as `interpolate` does.
/// Returns its formula.
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

/// Reads the time from the curves of the neighbouring group sizes, as
/// `interpolateSize` does. Returns its formula.
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
    std::string read = readCurve(near->first, near->second);
    if (ruleOf(cost.record->kind).sent == Algorithm::Sent::all)
      return read;
    return "(" + read + ") * (group_size - 1) / group_size / ((" + size +
           " - 1) / " + size + ")";
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
  const Tier &tier = *cost.route->tier;
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
  const CollectiveCall &cost = step.calls[step.membersOfRow[row].front()];
  const Tier &tier = *cost.route->tier;
  const std::string path = pathOf(row);
  bool ideal = step.runtime.ideal;
  double ring = static_cast<double>(record.wireBytesPerDevice) /
                tier.bandwidth.value * 1e6;
  bool faster = record.timeUs < ring * (1 - 1e-9);
  auto curves = tier.curves.find(cost.record->kind);
  if (cost.curve() && curves != tier.curves.end() && (!ideal || faster)) {
    CurveReading step(cost, path, record);
    std::string formula = step.read(curves->second);
    step.addScaling(curves->second);
    return add(path + "time_us", formula, step.explanation);
  }
  Explanation levels = explainLevels(row);
  const Algorithm &rule = ruleOf(cost.record->kind);
  std::string sent =
      cost.route->overlaps ? "wire_bytes_by_tier" : "wire_bytes_per_device";
  std::string formula = ideal ? sent + " / bandwidth * 1e6"
                              : latencyText(rule, "group_size") + " + " + sent +
                                    " / (bandwidth * efficiency) * 1e6";
  const char *over = !cost.route->hierarchical ? ""
                     : cost.route->overlaps    ? "largest over the levels of "
                                               : "sum over the levels of ";
  add(path + "time_us", over + formula, levels);
}

/// Adds to `levels` the algorithms that are faster at `bytes` bytes than the
/// rule of the collective.
static void explainChoices(const Route &route, double bytes,
                           Explanation &levels) {
  for (const RouteLevel &level : route.levels) {
    if (level.choices.empty())
      continue;
    const Algorithm &picked = *cheapest(level, bytes).algorithm;
    if (&picked == level.choices.front().algorithm)
      continue;
    std::string sent = sentText(picked, std::to_string(level.size));
    std::string &note = levels.derivation.note;
    note += (note.empty() ? "on " : "; on ") + level.tier->name + " " +
            picked.name +
            " takes less: " + latencyText(picked, std::to_string(level.size)) +
            " + " + (sent.empty() ? "" : sent + " * ") +
            "bytes / (bandwidth * efficiency) * 1e6 (" + picked.source + ")";
  }
}

/// Explains the time of a route by the latency and the bandwidth of its levels.
Explanation Explainer::explainLevels(size_t row) {
  const auto &record = report.communication.collectives[row];
  const CollectiveCall &cost = step.calls[step.membersOfRow[row].front()];
  const Route &route = *cost.route;
  const std::string path = pathOf(row);
  bool ideal = step.runtime.ideal;
  Explanation levels;
  for (const auto &[tier, bytes] : record.wireBytesByTier)
    levels.input(path + "wire_bytes_by_tier." + tier, bytes);
  if (!route.overlaps)
    levels.input(path + "wire_bytes_per_device", record.wireBytesPerDevice);
  const Algorithm &rule = ruleOf(cost.record->kind);
  if (!ideal && rule.hops != Algorithm::Hops::one)
    levels.input(path + "group_size", record.groupSize);
  for (const Tier &level : step.pool().tiers) {
    if (!route.hierarchical && &level != route.tier)
      continue;
    if (!ideal)
      levels.figure(level.latency).figure(level.efficiency);
    levels.figure(level.bandwidth);
    if (&level == route.tier)
      break;
  }
  std::string between;
  if (!ideal && step.runtime.collectiveStartUs.value > 0 &&
      route.tier != &step.pool().tiers.front()) {
    levels.figure(step.runtime.collectiveStartUs);
    between = "; collectives between nodes, but for exchanges of tokens and "
              "messages of stages, have a start";
  }
  if (route.overlaps)
    levels
        .note("all messages are sent at once: the slowest tier counts; the "
              "levels have their own devices, and one with a measured curve "
              "takes that" +
              between)
        .from(route.byNode ? byNodeSource : rule.source.c_str());
  else if (route.hierarchical)
    levels.note("summed over the levels of the network, each with its devices "
                "and bytes; a level with a measured curve takes that" +
                between);
  if (!ideal)
    explainChoices(route, cost.bytes.real(), levels);
  return levels;
}
