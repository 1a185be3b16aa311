//===- ReportPage.cpp -----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Write/Json.h"
#include "autopar/Write/Text.h"

#include "autopar/Write/Page.h"

#include "../Json/JsonParts.h"
#include "autopar/Page/Page.h"

#include <algorithm>

using namespace autopar;
using namespace autopar::page;
using namespace autopar::placement;
using namespace autopar::program;
using namespace autopar::report;
using namespace autopar::schedule;
using namespace autopar::writing;
using json = nlohmann::ordered_json;

static const char *nameOf(TaskKind kind) {
  switch (kind) {
  case TaskKind::forward:
    return "forward";
  case TaskKind::backward:
    return "backward";
  case TaskKind::input_gradient:
    return "input gradient";
  case TaskKind::weight_gradient:
    return "weight gradient";
  }
  return "";
}

/// Returns the tasks of each device: [device, from, to, kind, microbatch,
/// virtual stage], with times in us. Of a long schedule only the tasks that
/// begin first are returned.
static json writeTasks(const PipelineTimeline &timeline) {
  constexpr size_t mostTasks = 4000;
  std::vector<std::pair<size_t, const ScheduledTask *>> tasks;
  for (size_t i = 0; i < timeline.devices.size(); ++i) {
    const DeviceTimeline &device = timeline.devices[i];
    for (size_t task = device.firstTask; task < device.endTask; ++task)
      tasks.emplace_back(i, &timeline.tasks[task]);
  }
  if (tasks.size() > mostTasks) {
    std::sort(tasks.begin(), tasks.end(), [](auto &a, auto &b) {
      return std::pair(a.second->startPs, a.first) <
             std::pair(b.second->startPs, b.first);
    });
    tasks.resize(mostTasks);
  }
  json rows = json::array();
  for (const auto &[device, task] : tasks)
    rows.push_back({device, toMicroseconds(task->startPs),
                    toMicroseconds(task->endPs), nameOf(task->kind),
                    task->microbatch, task->stage});
  return {{"tasks", std::move(rows)}, {"of", timeline.tasks.size()}};
}

static std::string quoted(const std::string &text) {
  return json(text).dump(-1, ' ', false, json::error_handler_t::replace);
}

/// Returns the report as text, for readers whose browser runs no scripts and
/// who cannot click derivations.
static std::string plainText(Report report) {
  report.derivations.clear();
  return writeText(report);
}

Result<std::string> autopar::writing::writePage(const Report &report,
                                                const std::string &module,
                                                const Report *other) {
  PageMembers members = {{"report", writeJson(report)},
                         {"module", quoted(module)}};
  if (other)
    members.emplace_back("beside", writeJson(*other));
  if (report.pipeline)
    members.emplace_back("timeline",
                         writeTasks(report.pipeline->timeline).dump());
  return makePage("autopar: " + report.model.name, members, plainText(report));
}

Result<std::string> autopar::writing::writePage(const DeploymentReport &report,
                                                const std::string &module) {
  DeploymentReport plain = report;
  for (auto &[name, own] : plain.modules)
    own.derivations.clear();
  return makePage(
      "autopar: " + report.model,
      {{"deployment", writeJson(report)}, {"module", quoted(module)}},
      writeText(plain));
}

Result<std::string>
autopar::writing::writePage(const std::vector<PlanTableRow> &rows) {
  return makePage("autopar: comparison", {{"table", writeJson(rows)}},
                  writeText(rows));
}

Result<std::string>
autopar::writing::writePage(const PlanDifferences &differences) {
  std::vector<PlanTableRow> rows;
  for (const PlanOutcome *plan : {differences.a, differences.b})
    rows.push_back({"", "", plan->name, plan->report, ""});
  return makePage(
      "autopar: " + differences.a->report.model.name,
      {{"table", writeJson(rows)}, {"difference", writeJson(differences)}},
      writeText(differences));
}
