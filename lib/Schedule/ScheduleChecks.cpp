//===- ScheduleChecks.cpp -------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Orders.h"

#include "autopar/Support/Checked.h"
#include "autopar/Support/Limits.h"
#include "autopar/Support/Text.h"

#include <algorithm>

using namespace autopar;
using namespace autopar::schedule;

using MaybeError = std::optional<Error>;

static Error badCount(const char *name, int64_t count, int64_t most) {
  return {"", std::string(name) + " = " + formatInteger(count),
          "it is from 1 to " + formatInteger(most)};
}

static MaybeError checkCounts(const PipelineSchedule &schedule) {
  const std::pair<const char *, int64_t> counts[] = {
      {"stages", schedule.stages}, {"interleave", schedule.interleave}};
  for (auto [name, count] : counts)
    if (count < 1 || count > limits::maxVirtualStages)
      return badCount(name, count, limits::maxVirtualStages);
  if (schedule.microbatches < 1 ||
      schedule.microbatches > limits::maxScheduledTasks)
    return badCount("microbatches", schedule.microbatches,
                    limits::maxScheduledTasks);
  if (schedule.rounds < 1 || schedule.rounds > limits::maxScheduledTasks)
    return badCount("rounds", schedule.rounds, limits::maxScheduledTasks);
  int64_t virtualStages = schedule.stages * schedule.interleave;
  if (virtualStages > limits::maxVirtualStages)
    return Error{"", "stages * interleave = " + formatInteger(virtualStages),
                 "at most " + formatInteger(limits::maxVirtualStages)};
  Checked passes = Checked(schedule.microbatches) * schedule.rounds;
  if (passes > limits::maxScheduledTasks ||
      countTasks(schedule) > limits::maxScheduledTasks)
    return Error{"",
                 "a schedule of more than " +
                     formatInteger(limits::maxScheduledTasks) + " tasks",
                 "simulate fewer microbatches or rounds: every steady round "
                 "takes as long as the one before"};
  return std::nullopt;
}

static std::string head(const PipelineSchedule &schedule) {
  return "schedule " + std::string(nameOf(schedule.kind)) + " of ";
}

bool autopar::schedule::hasOrder(const PipelineSchedule &schedule) {
  return schedule.kind != ScheduleKind::interleaved ||
         schedule.microbatches % schedule.stages == 0;
}

static MaybeError checkInterleaved(const PipelineSchedule &schedule) {
  int64_t p = schedule.stages, m = schedule.microbatches;
  if (schedule.interleave == 1)
    return Error{"", head(schedule) + "1 virtual stage a device",
                 "interleave at least 2 virtual stages, or take one_f_one_b"};
  if (hasOrder(schedule))
    return std::nullopt;
  std::string below = m < p ? "" : formatInteger(m / p * p) + " or ";
  return Error{"",
               head(schedule) + formatInteger(m) +
                   (m == 1 ? " microbatch over " : " microbatches over ") +
                   countOf(p, "stage"),
               "microbatches go in groups of one per stage: take " + below +
                   formatInteger((m / p + 1) * p)};
}

static MaybeError checkDualPipe(const PipelineSchedule &schedule) {
  int64_t p = schedule.stages, m = schedule.microbatches;
  if (p % 2 != 0)
    return Error{"", head(schedule) + countOf(p, "stage"),
                 "it has two halves: take " + formatInteger(p + 1) +
                     " stages, or one_f_one_b"};
  if (m % 2 == 0 && m >= 2 * p)
    return std::nullopt;
  return Error{"",
               head(schedule) + formatInteger(m) + " microbatches over " +
                   countOf(p, "stage"),
               "half of them enter at either end, at least one per stage: "
               "take " +
                   formatInteger(std::max(2 * p, m + m % 2))};
}

static MaybeError checkKind(const PipelineSchedule &schedule) {
  bool isInference = schedule.kind == ScheduleKind::inference;
  if (!isInference && (schedule.rounds != 1 || schedule.loop))
    return Error{"",
                 head(schedule) + countOf(schedule.rounds, "round") +
                     (schedule.loop ? " in a loop" : ""),
                 "only inference has rounds and loops"};
  if (schedule.kind == ScheduleKind::interleaved)
    return checkInterleaved(schedule);
  if (schedule.interleave != 1)
    return Error{"",
                 head(schedule) + formatInteger(schedule.interleave) +
                     " virtual stages a device",
                 "interleave 1, or take schedule interleaved"};
  if (schedule.kind == ScheduleKind::dual_pipe)
    return checkDualPipe(schedule);
  return std::nullopt;
}

static MaybeError checkWork(const StageWork &work, int64_t stage) {
  auto name = [&] { return "virtual stage " + std::to_string(stage); };
  const std::pair<const char *, int64_t> values[] = {
      {"forward", work.forwardPs},
      {"input gradient", work.inputGradientPs},
      {"weight gradient", work.weightGradientPs},
      {"transfer", work.transferPs},
      {"forward communication", work.forwardCommunicationPs},
      {"backward communication", work.backwardCommunicationPs}};
  for (auto [what, time] : values)
    if (time < 0 || time > limits::maxStageTimePs)
      return Error{"",
                   name() + ": " + what + " of " + formatInteger(time) + " ps",
                   "times are from 0 to " +
                       formatInteger(limits::maxStageTimePs) + " ps"};
  if (work.forwardCommunicationPs > work.forwardPs ||
      work.backwardCommunicationPs > work.backwardPs())
    return Error{"",
                 name() + ": communication takes longer than the pass that "
                          "it is a part of",
                 "at most " + formatInteger(work.forwardPs) +
                     " ps forward and " + formatInteger(work.backwardPs()) +
                     " ps backward"};
  if (work.savedBytes >= 0)
    return std::nullopt;
  return Error{"",
               name() + ": " + formatInteger(work.savedBytes) + " saved bytes",
               "bytes are not negative"};
}

static MaybeError checkAllWork(const PipelineSchedule &schedule) {
  auto size = static_cast<int64_t>(schedule.work.size());
  int64_t stages = schedule.stages * schedule.interleave;
  if (size != stages && size != stages * schedule.rounds)
    return Error{"", "work of " + countOf(size, "virtual stage"),
                 "the schedule has " + formatInteger(stages) +
                     (schedule.rounds > 1
                          ? ", or " + formatInteger(stages * schedule.rounds) +
                                " with rounds told apart"
                          : "")};
  Checked time, bytes;
  for (int64_t i = 0; i < size; ++i) {
    const StageWork &work = schedule.work[i];
    if (auto error = checkWork(work, i % stages))
      return error;
    time += Checked(work.forwardPs) + work.backwardPs() + work.transferPs +
            work.transferPs;
    bytes += work.savedBytes;
  }
  int64_t repeats = size == stages ? schedule.rounds : 1;
  time *= Checked(schedule.microbatches) * repeats;
  bytes *= schedule.microbatches;
  if (time > limits::maxScheduledTimePs)
    return Error{"", "all tasks take " + formatInteger(time) + " ps",
                 "at most " + formatInteger(limits::maxScheduledTimePs) +
                     " ps together"};
  if (bytes > INT64_MAX)
    return Error{"", "all microbatches save " + formatInteger(bytes) + " bytes",
                 "at most " + formatInteger(INT64_MAX)};
  return std::nullopt;
}

MaybeError autopar::schedule::checkSchedule(const PipelineSchedule &schedule) {
  if (auto error = checkCounts(schedule))
    return error;
  if (auto error = checkKind(schedule))
    return error;
  return checkAllWork(schedule);
}

static std::string divisorsText(int64_t value) {
  std::vector<std::string> listed;
  for (int64_t i = 1; i <= std::min<int64_t>(value, 4096); ++i)
    if (value % i == 0 && listed.size() < 12)
      listed.push_back(std::to_string(i));
  return join(listed, ", ");
}

Result<int64_t> autopar::schedule::microbatchOf(int64_t batch,
                                                int64_t microbatches) {
  if (microbatches >= 1 && batch % microbatches == 0)
    return batch / microbatches;
  return Error{"",
               "a batch of " + formatInteger(batch) + " does not divide into " +
                   formatInteger(microbatches) + " microbatches",
               "microbatches that work: " + divisorsText(batch)};
}
