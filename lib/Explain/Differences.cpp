//===- Differences.cpp ----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Explain/Differences.h"

#include "autopar/Support/Text.h"

#include <algorithm>
#include <map>
#include <sstream>

using namespace autopar;
using namespace autopar::explanation;
using namespace autopar::program;
using namespace autopar::report;
using namespace autopar::schedule;
using Row = PlanDifferences::Row;
using Value = PlanDifferences::Value;

static std::optional<double> numberOf(const Value &value) {
  if (const auto *count = std::get_if<int64_t>(&value))
    return static_cast<double>(*count);
  if (const auto *count = std::get_if<Checked>(&value))
    return count->real();
  if (const auto *number = std::get_if<double>(&value))
    return *number;
  return std::nullopt;
}

std::optional<double> Row::ratio() const {
  std::optional<double> first = numberOf(a), second = numberOf(b);
  if (!first || !second || *first == 0)
    return std::nullopt;
  return *second / *first;
}

//===----------------------------------------------------------------------===//
// Differences between the numbers of two reports
//===----------------------------------------------------------------------===//

namespace {

/// Lists the numbers that differ between two reports.
class RowList {
public:
  RowList(const Report &a, const Report &b, PlanDifferences &differences)
      : a(a), b(b), differences(differences) {}

  /// Adds a row if `get` returns different values for the two reports.
  template <typename Get>
  void add(const char *name, const char *path, PlanDifferences::Unit unit,
           Get get) {
    Row row = {name, path, unit, get(a), get(b)};
    if (row.a == row.b)
      ++differences.equal.rows;
    else
      differences.rows.push_back(std::move(row));
  }

private:
  const Report &a, &b;
  PlanDifferences &differences;
};

} // namespace

static void compareMemory(RowList &rows) {
  auto bytes = PlanDifferences::Unit::bytes;
  auto count = PlanDifferences::Unit::count;
  auto ofDevice = [&](const char *name, const char *path,
                      int64_t Report::DeviceMemory::*member) {
    rows.add(name, path, bytes, [=](const Report &report) -> Value {
      return report.memory.perDevice.*member;
    });
  };
  using Memory = Report::DeviceMemory;
  rows.add("fits", "memory.per_device.fits", PlanDifferences::Unit::none,
           [](const Report &report) -> Value {
             return report.memory.perDevice.fits;
           });
  ofDevice("weights", "memory.per_device.weight_bytes", &Memory::weightBytes);
  ofDevice("KV cache", "memory.per_device.kv_cache_bytes",
           &Memory::kvCacheBytes);
  ofDevice("states", "memory.per_device.state_bytes", &Memory::stateBytes);
  ofDevice("temporaries", "memory.per_device.reserved_bytes",
           &Memory::reservedBytes);
  ofDevice("runtime", "memory.per_device.runtime_bytes", &Memory::runtimeBytes);
  ofDevice("total per device", "memory.per_device.total_bytes",
           &Memory::totalBytes);
  rows.add("budget", "memory.budget_bytes", bytes,
           [](const Report &report) -> Value {
             return report.memory.perDevice.budgetBytes;
           });
  rows.add("KV cache per token/device", "memory.kv_bytes_per_token_per_device",
           bytes, [](const Report &report) -> Value {
             return report.memory.kvBytesPerTokenPerDevice;
           });
  using Capacity = Report::Capacity;
  std::tuple<const char *, const char *, int64_t Capacity::*> held[] = {
      {"sequences that fit", "capacity.sequences", &Capacity::sequences},
      {"tokens that fit", "capacity.tokens", &Capacity::tokens},
      {"tokens per device", "capacity.tokens_per_device",
       &Capacity::tokensPerDevice}};
  for (auto [name, path, member] : held)
    rows.add(name, path, count,
             [member = member](const Report &report) -> Value {
               return report.capacity.*member;
             });
}

static void compareTimes(RowList &rows) {
  using Unit = PlanDifferences::Unit;
  auto time = [&](const char *name, const char *path, auto get) {
    rows.add(name, path, Unit::microseconds, get);
  };
  time("step time", "latency.step_time_us",
       [](const Report &report) -> Value { return report.latency.stepTimeUs; });
  time("  compute", "latency.compute_time_us",
       [](const Report &report) -> Value {
         return report.latency.computeTimeUs;
       });
  time("  memory", "latency.memory_time_us", [](const Report &report) -> Value {
    return report.latency.memoryTimeUs;
  });
  time("  communication", "latency.communication_time_us",
       [](const Report &report) -> Value {
         return report.latency.communicationTimeUs;
       });
  time("  overhead", "latency.overhead_time_us",
       [](const Report &report) -> Value {
         return report.latency.overheadTimeUs;
       });
  time("  pipeline", "latency.pipeline_time_us",
       [](const Report &report) -> Value {
         return report.latency.pipelineTimeUs;
       });
  rows.add("bound by", "latency.bound", Unit::none,
           [](const Report &report) -> Value { return report.latency.bound; });
  rows.add("tokens/s", "throughput.tokens_per_s", Unit::perSecond,
           [](const Report &report) -> Value { return report.tokensPerS; });
  auto known = [](std::optional<double> value) {
    return value ? Value(*value) : Value();
  };
  rows.add("price per million tokens", "cost.usd_per_million_tokens",
           Unit::dollars, [=](const Report &report) -> Value {
             return known(report.cost.dollarsPerMillionTokens);
           });
  rows.add("energy per token", "cost.joules_per_token", Unit::joules,
           [=](const Report &report) -> Value {
             return known(report.cost.joulesPerToken);
           });
}

static void compareRest(RowList &rows) {
  using Unit = PlanDifferences::Unit;
  rows.add("devices", "mesh.devices", Unit::count,
           [](const Report &report) -> Value { return report.mesh.devices; });
  rows.add(
      "FLOPs per device", "flops.per_device", Unit::flops,
      [](const Report &report) -> Value { return report.flops.perDevice; });
  rows.add("bytes sent per device", "communication.bytes_per_device",
           Unit::bytes, [](const Report &report) -> Value {
             return report.communication.bytesPerDevice;
           });
}

//===----------------------------------------------------------------------===//
// Differences between lists with named entries
//===----------------------------------------------------------------------===//

/// Pairs the entries of `a` and `b` that have the same name, in the order of
/// `a`; the entries that only `b` has come last. Several entries of one name
/// are paired in their order. Returns the number of equal entries.
template <typename T, typename Key, typename Equal>
static size_t pairUp(const std::vector<T> &a, const std::vector<T> &b, Key key,
                     Equal equal,
                     std::vector<PlanDifferences::Pair<T>> &pairs) {
  std::map<std::string, std::vector<const T *>> unpaired;
  for (auto it = b.rbegin(); it != b.rend(); ++it)
    unpaired[key(*it)].push_back(&*it);
  size_t equals = 0;
  for (const T &entry : a) {
    std::vector<const T *> &others = unpaired[key(entry)];
    if (others.empty()) {
      pairs.push_back({entry, std::nullopt});
      continue;
    }
    if (equal(entry, *others.back()))
      ++equals;
    else
      pairs.push_back({entry, *others.back()});
    others.pop_back();
  }
  for (const T &entry : b) {
    std::vector<const T *> &left = unpaired[key(entry)];
    if (!left.empty() && left.back() == &entry) {
      pairs.push_back({std::nullopt, entry});
      left.pop_back();
    }
  }
  return equals;
}

static void compareIR(PlanDifferences &differences) {
  const PlanOutcome &a = *differences.a, &b = *differences.b;
  using Collective = PlanOutcome::Collective;
  using Tensor = PlanOutcome::Tensor;
  differences.equal.collectives = pairUp(
      a.collectives, b.collectives,
      [](const Collective &one) {
        return one.layer + "/" + one.kind + "/" + one.dims + "/" +
               join(one.axes, "*");
      },
      [](const Collective &x, const Collective &y) {
        return x.count == y.count;
      },
      differences.collectives);
  differences.equal.tensors = pairUp(
      a.tensors, b.tensors,
      [](const Tensor &one) { return one.layer + "/" + one.name; },
      [](const Tensor &x, const Tensor &y) {
        return x.layout == y.layout && x.format == y.format;
      },
      differences.tensors);
}

static void compareCollectiveTimes(PlanDifferences &differences) {
  using Entry = Report::CollectiveRow;
  differences.equal.times = pairUp(
      differences.a->report.communication.collectives,
      differences.b->report.communication.collectives,
      [](const Entry &one) {
        return one.kind + "/" + one.name + "/" + join(one.axes, "*");
      },
      [](const Entry &x, const Entry &y) {
        return x.groupSize == y.groupSize && x.count == y.count &&
               x.wireBytesPerDevice == y.wireBytesPerDevice &&
               x.timeUs == y.timeUs;
      },
      differences.times);
}

/// Returns a warning without its numbers and their units, to compare what
/// warnings are about.
static std::string subjectOf(const std::string &warning) {
  static constexpr std::string_view units[] = {"us",  "ms",  "s",  "B",
                                               "KiB", "MiB", "GiB"};
  std::string subject, word;
  std::istringstream words(warning);
  while (words >> word) {
    std::string_view bare(word);
    bare = bare.substr(0, bare.find_last_not_of(",.:;)") + 1);
    bool number = bare.find_first_of("0123456789") != std::string_view::npos;
    if (!number &&
        std::find(std::begin(units), std::end(units), bare) == std::end(units))
      subject += word + " ";
  }
  return subject;
}

/// Adds to `only` those warnings of `all` whose subject no warning in `others`
/// has. Returns the number of the remaining warnings of `all`.
static size_t addWarnings(const std::vector<Warning> &all,
                          const std::vector<Warning> &others,
                          std::vector<std::string> &only) {
  for (const Warning &warning : all)
    if (std::none_of(others.begin(), others.end(), [&](const Warning &other) {
          return subjectOf(other.text) == subjectOf(warning.text);
        }))
      only.push_back(warning.text);
  return all.size() - only.size();
}

static void compareWarnings(PlanDifferences &differences) {
  const auto &a = differences.a->report.warnings;
  const auto &b = differences.b->report.warnings;
  differences.equal.warnings = addWarnings(a, b, differences.warningsOfA);
  addWarnings(b, a, differences.warningsOfB);
}

PlanDifferences autopar::explanation::compare(const PlanOutcome &a,
                                              const PlanOutcome &b) {
  PlanDifferences differences;
  differences.a = &a;
  differences.b = &b;
  RowList rows(a.report, b.report, differences);
  compareMemory(rows);
  compareTimes(rows);
  compareRest(rows);
  compareIR(differences);
  compareCollectiveTimes(differences);
  compareWarnings(differences);
  return differences;
}
