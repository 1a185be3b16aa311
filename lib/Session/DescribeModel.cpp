//===- DescribeModel.cpp --------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DescribeModel.h"

#include "autopar/Analysis/CostProgramAnalysis.h"
#include "autopar/Dialect/Transformer/Transformer.h"
#include "autopar/Evaluate/ModelFacts.h"
#include "autopar/Model/Scope.h"
#include "autopar/Pipelines/PlanPasses.h"
#include "autopar/Program/Workload.h"

#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace autopar;
using namespace autopar::analysis;
using namespace autopar::evaluation;
using namespace autopar::model;
using namespace autopar::pipelines;
using namespace autopar::plan;
using namespace autopar::program;
using namespace autopar::report;
using namespace autopar::session;
using namespace mlir;

/// Extracts the cost program of `module` in `phase`, with KV caches in the
/// format `kvFormat`; "" means the format of the module.
static Result<CostProgram> extract(ModuleOp module, Phase phase,
                                   const std::string &kvFormat) {
  OwningOpRef<ModuleOp> copy = module.clone();
  PlanRequest request;
  request.workload.phase = phase;
  request.keepsRows = false;
  if (!kvFormat.empty()) {
    request.plan.kvDtype = parseCacheFormat(kvFormat);
    if (!request.plan.kvDtype)
      return Error{"",
                   "--kv-dtype=" + kvFormat + ": unknown format, expected " +
                       std::string(cacheFormatChoices()),
                   ""};
  }
  PassManager pm(module.getContext());
  addPlanPasses(pm, std::move(request));
  if (failed(pm.run(*copy)))
    return Error();
  CostProgramAnalysis analysis(*copy);
  if (!analysis.isValid())
    return Error();
  return analysis.getProgram();
}

//===----------------------------------------------------------------------===//
// The order of layers
//===----------------------------------------------------------------------===//

namespace {
/// Layers of one kind that follow each other, or groups of layers that do.
struct Run {
  std::string name;
  int64_t count;
};
} // namespace

static std::string textOf(ArrayRef<Run> runs) {
  std::string text;
  for (const Run &run : runs)
    text +=
        (text.empty() ? "" : ", ") + std::to_string(run.count) + " " + run.name;
  return text;
}

static void append(SmallVector<Run> &runs, Run run) {
  if (!runs.empty() && runs.back().name == run.name)
    runs.back().count += run.count;
  else
    runs.push_back(std::move(run));
}

static SmallVector<Run> findRuns(Block &block) {
  SmallVector<Run> runs;
  for (Operation &op : block) {
    if (auto call = dyn_cast<CallOpInterface>(op)) {
      auto callee = dyn_cast<SymbolRefAttr>(call.getCallableForCallee());
      if (callee)
        append(runs, {callee.getLeafReference().str(), 1});
    }
    auto loop = dyn_cast<LoopLikeOpInterface>(op);
    if (!loop)
      continue;
    SmallVector<Run> body = findRuns(loop.getLoopRegions().front()->front());
    std::optional<APInt> trips = loop.getStaticTripCount();
    int64_t count = trips ? trips->getSExtValue() : 1;
    if (body.size() == 1)
      append(runs, {body.front().name, body.front().count * count});
    else if (!body.empty())
      append(runs, {"x (" + textOf(body) + ")", count});
  }
  return runs;
}

static std::string patternOf(ModuleOp module) {
  for (auto function : module.getOps<FunctionOpInterface>())
    if (function.isPublic() && !function.isDeclaration())
      return textOf(findRuns(function.getFunctionBody().front()));
  return "";
}

//===----------------------------------------------------------------------===//
// The report of a model
//===----------------------------------------------------------------------===//

static ModelDefault defaultOf(transformer::DefaultAttr note) {
  if (!note.getValue())
    return {note.getName().str()};
  return {note.getName().str(), note.getValue().str(), note.getSource().str()};
}

Result<ModelReport>
autopar::session::describeModel(ModuleOp module,
                                const std::vector<std::string> &kvFormats) {
  ModelPrograms programs;
  for (Phase phase : {Phase::prefill, Phase::decode}) {
    Result<CostProgram> program = extract(module, phase, "");
    if (!program)
      return program.error();
    (phase == Phase::prefill ? programs.prefill : programs.decode) =
        std::move(*program);
  }
  for (const std::string &format : kvFormats) {
    Result<CostProgram> program = extract(module, Phase::prefill, format);
    if (!program)
      return program.error();
    programs.byKvFormat.emplace_back(format, std::move(*program));
  }
  Result<ModelReport> report =
      countModel(programs, /*cacheContexts=*/{4096, 32768, 131072},
                 /*flopContexts=*/{1024, 8192, 65536});
  if (!report)
    return report;
  report->pattern = patternOf(module);
  if (auto notes = module->getAttrOfType<ArrayAttr>(
          transformer::DefaultAttr::moduleAttribute))
    for (auto note : notes.getAsRange<transformer::DefaultAttr>())
      report->defaults.push_back(defaultOf(note).str());
  return report;
}
