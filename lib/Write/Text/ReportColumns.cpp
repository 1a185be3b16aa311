//===- ReportColumns.cpp --------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Write/ReportColumns.h"

#include "autopar/Support/Text.h"
#include "autopar/Support/TextTables.h"
#include "autopar/Write/MoneyText.h"
#include "autopar/Write/Phrases.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

using namespace autopar;
using namespace autopar::report;
using namespace autopar::writing;

using Json = nlohmann::ordered_json;

//===----------------------------------------------------------------------===//
// Values of cells as text
//===----------------------------------------------------------------------===//

static std::string wordText(const Json &value) { return value; }
static std::string countText(const Json &value) {
  return formatInteger(value.get<int64_t>());
}
static std::string bytesText(const Json &value) {
  return formatBytes(value.get<int64_t>());
}
static std::string timeText(const Json &value) { return formatTime(value); }
static std::string rateText(const Json &value) { return formatRate(value); }
static std::string moneyText(const Json &value) { return dollarText(value); }
static std::string jouleText(const Json &value) { return energyText(value); }
static std::string numberText(const Json &value) {
  return print("%.3g", value.get<double>());
}
static std::string shareText(const Json &value) {
  return percent(value.get<double>(), 1);
}
static std::string truthText(const Json &value) {
  return value.get<bool>() ? "yes" : "NO";
}

//===----------------------------------------------------------------------===//
// The columns of tables of reports
//===----------------------------------------------------------------------===//

static Json optional(const std::optional<double> &value) {
  return value ? Json(*value) : Json();
}

static bool isPrefill(const Report &report) {
  return report.workload.phase == "prefill";
}

static const ServingReport *servedBy(const Report &report) {
  return report.serving && report.serving->isServed ? &*report.serving
                                                    : nullptr;
}

/// Returns a number of the steady state; null if it is infinite or if the
/// report has no service.
template <typename Number>
static Json steady(const Report &report, Number number) {
  const ServingReport *serving = servedBy(report);
  double value = serving ? number(*serving) : 0;
  return serving && std::isfinite(value) ? Json(value) : Json();
}

/// Returns the tokens per second of each of `devices` devices; null for a
/// service that cannot run.
static Json tokensPerS(const Report &report, int64_t devices = 1) {
  const ServingReport *serving = servedBy(report);
  if (!serving && report.serving)
    return {};
  double rate =
      serving ? serving->steady.state.outputTokensPerSecond : report.tokensPerS;
  return rate / static_cast<double>(devices);
}

static Json dollarsPerMillion(const Report &report) {
  return optional(report.serving ? report.serving->dollarsPerMillionTokens
                                 : report.cost.dollarsPerMillionTokens);
}

static Json joulesPerToken(const Report &report) {
  if (!report.serving)
    return optional(report.cost.joulesPerToken);
  const auto &joules = report.serving->joulesPerMillionTokens;
  return joules ? Json(*joules / 1e6) : Json();
}

static constexpr double ms = 1e3, gib = 1 << 30;

const std::vector<ReportColumn> &autopar::writing::reportColumns() {
  static const std::vector<ReportColumn> columns = {
      {"hardware", "machine", 'l',
       [](const Report &report) { return Json(report.machine.hardware); },
       wordText},
      {"nodes", "nodes", 'r',
       [](const Report &report) { return Json(report.machine.nodes); },
       countText},
      {"devices", "devices", 'r',
       [](const Report &report) { return Json(report.mesh.devices); },
       countText},
      {"runtime", "runtime", 'l',
       [](const Report &report) { return Json(report.machine.runtime); },
       wordText},
      {"phase", "phase", 'l',
       [](const Report &report) { return Json(report.workload.phase); },
       wordText},
      {"batch", "batch", 'r',
       [](const Report &report) { return Json(report.workload.batch); },
       countText},
      {"prompt", "prompt", 'r',
       [](const Report &report) {
         return isPrefill(report) ? Json(report.workload.queryLength) : Json();
       },
       countText},
      {"context", "context", 'r',
       [](const Report &report) { return Json(report.workload.contextLength); },
       countText},
      {"step_time_us", "step", 'r',
       [](const Report &report) { return Json(report.latency.stepTimeUs); },
       timeText, "time of a step, ms", ms},
      {"tokens_per_s", "tokens/s", 'r',
       [](const Report &report) { return tokensPerS(report); }, rateText,
       "tokens/s", 1},
      {"tokens_per_s_per_device", "a device", 'r',
       [](const Report &report) {
         return tokensPerS(report, report.mesh.devices);
       },
       rateText, "tokens/s per device", 1},
      {"total_bytes", "memory", 'r',
       [](const Report &report) {
         return Json(report.memory.perDevice.totalBytes);
       },
       bytesText, "memory per device, GiB", gib},
      {"budget_bytes", "budget", 'r',
       [](const Report &report) {
         return Json(report.memory.perDevice.budgetBytes);
       },
       bytesText, "memory budget per device, GiB", gib},
      {"fits", "fits", 'l',
       [](const Report &report) { return Json(report.memory.perDevice.fits); },
       truthText},
      {"bound", "bound by", 'l',
       [](const Report &report) { return Json(report.latency.bound); },
       wordText},
      {"sequences", "sequences", 'r',
       [](const Report &report) { return Json(report.capacity.sequences); },
       countText, "sequences that fit", 1},
      {"usd_per_million_tokens", "$/M tokens", 'r', dollarsPerMillion,
       moneyText, "$ per million tokens", 1},
      {"joules_per_token", "J/token", 'r', joulesPerToken, jouleText,
       "J per token, at most", 1},
      {"requests_per_s", "requests/s", 'r',
       [](const Report &report) {
         return steady(report, [](const ServingReport &serving) {
           return serving.steady.requestsPerS();
         });
       },
       numberText, "requests/s", 1, true},
      {"ttft_us", "TTFT", 'r',
       [](const Report &report) {
         return steady(report, [](const ServingReport &serving) {
           return serving.steady.state.ttftUs;
         });
       },
       timeText, "time to first token, ms", ms, true},
      {"p99_ttft_us", "p99 TTFT", 'r',
       [](const Report &report) {
         return steady(report, [](const ServingReport &serving) {
           return serving.steady.state.isOverloaded
                      ? std::numeric_limits<double>::infinity()
                      : serving.steady.state.ttft.p99;
         });
       },
       timeText, "99th percentile of the time to first token, ms", ms, true},
      {"tpot_us", "TPOT", 'r',
       [](const Report &report) {
         return steady(report, [](const ServingReport &serving) {
           return serving.steady.state.tpotUs;
         });
       },
       timeText, "time per output token, ms", ms, true},
      {"share_within_limits", "within limits", 'r',
       [](const Report &report) {
         const ServingReport *serving = servedBy(report);
         return serving && serving->hasLimits()
                    ? Json(serving->steady.state.shareWithinLimits)
                    : Json();
       },
       shareText, "share of requests within the latency limits", 1, true},
      {"saturates_at_per_s", "saturates at", 'r',
       [](const Report &report) {
         const ServingReport *serving = servedBy(report);
         return serving && serving->isOpen()
                    ? Json(serving->steady.state.mostPerS)
                    : Json();
       },
       numberText, "saturation rate, requests/s", 1, true},
  };
  return columns;
}

size_t autopar::writing::reportColumn(std::string_view key) {
  const std::vector<ReportColumn> &columns = reportColumns();
  auto it = std::find_if(columns.begin(), columns.end(),
                         [&](const auto &one) { return one.key == key; });
  assert(it != columns.end() && "a column that reports have");
  return it - columns.begin();
}
