//===- Stages.cpp ---------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Interpreter/Stages.h"

#include "autopar/Analysis/CostProgramAnalysis.h"
#include "autopar/Analysis/StageBorders.h"
#include "autopar/Schedule/Timeline.h"

using namespace autopar;
using namespace mlir;

/// The devices that execute a stage together differ in other axes alone.
static LogicalResult verifyAxis(parallel::StagesOp op, StringRef axis,
                                const CostProgram &program) {
  if (!llvm::is_contained(program.axes, axis.str()))
    return success();
  return op.emitError("cannot be executed: its axis '")
         << axis << "' splits tensors, or collectives are over it";
}

FailureOr<std::unique_ptr<StageTable>> StageTable::create(ModuleOp module,
                                                          func::FuncOp entry) {
  auto ops = module.getOps<parallel::StagesOp>();
  // One stage over no axis is the module, whatever goes through it.
  if (ops.empty() || (*ops.begin()).getAxes().empty())
    return std::unique_ptr<StageTable>();
  auto table = std::make_unique<StageTable>();
  table->op = *ops.begin();
  table->ranges = table->op.getRanges();
  CostProgramAnalysis analysis(module);
  if (!analysis.isValid() ||
      failed(verifyCoverage(table->ranges, analysis.getProgram(),
                            [&] { return table->op.emitError(); })) ||
      failed(verifyAxis(table->op, table->axis(), analysis.getProgram())))
    return failure();
  for (LoopLikeOpInterface loop : findStack(entry))
    table->stack.push_back(loop);
  if (failed(table->readOrders()))
    return failure();
  return table;
}

/// Forwards alone, in the order that they have among backwards.
LogicalResult StageTable::readOrders() {
  PipelineSchedule schedule;
  schedule.kind = op.getSchedule();
  schedule.interleave = static_cast<int64_t>(op.getInterleave());
  schedule.stages = static_cast<int64_t>(ranges.size()) / schedule.interleave;
  schedule.microbatches = microbatches();
  schedule.work.resize(ranges.size());
  Result<PipelineTimeline> timeline = simulateSchedule(schedule);
  if (!timeline) {
    InFlightDiagnostic error = op.emitError(timeline.error().message);
    error.attachNote() << timeline.error().note;
    return error;
  }
  for (const DeviceTimeline &device : timeline->devices) {
    std::vector<StageTask> &own = tasks.emplace_back();
    for (size_t i = device.firstTask; i < device.endTask; ++i)
      if (timeline->tasks[i].kind == TaskKind::forward)
        own.push_back(
            {timeline->tasks[i].stage, timeline->tasks[i].microbatch});
  }
  return success();
}
