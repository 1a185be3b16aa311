//===- DiffModules.cpp ----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Explain/Differences.h"
#include "autopar/Transforms/Passes.h"
#include "autopar/Write/Json.h"
#include "autopar/Write/Page.h"
#include "autopar/Write/Text.h"

#include "../ErrorsNameModule.h"
#include "autopar/Transforms/Price/Estimate.h"

namespace autopar::transforms {
#define GEN_PASS_DEF_DIFFMODULESPASS
#include "autopar/Transforms/Passes.h.inc"
} // namespace autopar::transforms

using namespace autopar;
using namespace autopar::analysis;
using namespace autopar::estimation;
using namespace autopar::explanation;
using namespace autopar::parallel;
using namespace autopar::placement;
using namespace autopar::plan;
using namespace autopar::program;
using namespace autopar::report;
using namespace autopar::schedule;
using namespace autopar::transforms;
using namespace autopar::writing;
using namespace mlir;

/// Describes which dimensions a collective changes: "dim 2" if its split
/// changes, "dim 1 to 0" if a split moves.
static std::string dimsOf(Operation *op) {
  if (op->getNumOperands() != 1 || op->getNumResults() != 1)
    return "";
  TensorView before(op->getOperand(0)), after(op->getResult(0));
  if (before.rank() != after.rank())
    return "";
  std::string less, more;
  for (unsigned i = 0; i < before.rank(); ++i) {
    size_t axes = before.dim(i).axes.size();
    if (after.dim(i).axes.size() < axes)
      less += (less.empty() ? "" : ", ") + std::to_string(i);
    if (after.dim(i).axes.size() > axes)
      more += (more.empty() ? "" : ", ") + std::to_string(i);
  }
  if (less.empty() && more.empty())
    return "";
  return "dim " + less + (less.empty() || more.empty() ? "" : " to ") + more;
}

/// Adds a collective to the list, or its count to that of an equal entry.
static void add(std::vector<PlanOutcome::Collective> &all,
                PlanOutcome::Collective one) {
  for (PlanOutcome::Collective &other : all)
    if (std::tie(other.layer, other.kind, other.dims, other.axes) ==
        std::tie(one.layer, one.kind, one.dims, one.axes)) {
      other.count += one.count;
      return;
    }
  all.push_back(std::move(one));
}

/// Returns the outcome of a plan from its IR: the collectives and tensors of
/// the cost program's records.
static PlanOutcome outcomeOf(ModuleOp module,
                             const CostProgramAnalysis &analysis) {
  const CostProgram &program = analysis.getProgram();
  PlanOutcome outcome;
  outcome.name = module.getName().value_or("").str();
  for (auto [record, op] :
       llvm::zip_equal(program.collectives, analysis.getOps().collectives)) {
    PlanOutcome::Collective one;
    one.layer = program.layers[record.layer].name;
    one.kind = nameOf(record.kind);
    one.dims = dimsOf(op);
    for (AxisId axis : record.axes)
      one.axes.push_back(program.axes[axis]);
    one.count = record.count;
    add(outcome.collectives, std::move(one));
  }
  // The tensors of a quantised weight share an op and its layout, so that one
  // of them suffices. Gradients and optimizer states, whose ops have operands,
  // have the layout of their weights.
  Operation *last = nullptr;
  for (auto [record, op] :
       llvm::zip(program.residents, analysis.getOps().residents)) {
    if (op == last || op->getNumOperands() != 0)
      continue;
    last = op;
    RankedTensorType type = TensorView(op->getResult(0)).getType();
    outcome.tensors.push_back({program.layers[record.layer].name, record.name,
                               Layout::of(type).str(),
                               std::string(nameOf(record.type))});
  }
  return outcome;
}

namespace {

struct DiffModulesPass
    : autopar::transforms::impl::DiffModulesPassBase<DiffModulesPass> {
  using Base::Base;

  StringRef destination() const override { return output.getValue(); }

  void runOnOperation() override {
    markAllAnalysesPreserved();
    if (failed(diff()))
      signalPassFailure();
  }

  LogicalResult diff() {
    ModuleOp module = getOperation();
    SmallVector<ModuleOp> inside(module.getOps<ModuleOp>());
    if (failed(verifyFormat(format)))
      return failure();
    if (inside.size() != 2)
      return module.emitError() << "has " << inside.size()
                                << " modules inside, expected 2 to compare";
    const auto &target = getAnalysis<TargetAnalysis>();
    if (!target.isValid())
      return failure();
    FailureOr<PlanOutcome> a = price(inside[0], target);
    if (failed(a))
      return failure();
    FailureOr<PlanOutcome> b = price(inside[1], target);
    if (failed(b))
      return failure();
    PlanDifferences differences = compare(*a, *b);
    if (format == "html")
      return writePageOf(differences);
    return write(output, format == "json"
                             ? writeJson(differences)
                             : writeText(differences, styleOf(output)));
  }

  LogicalResult writePageOf(const PlanDifferences &differences) {
    Result<std::string> page = writePage(differences);
    return page ? write(output, *page)
                : emitError(getOperation(), page.error());
  }

  FailureOr<PlanOutcome> price(ModuleOp module, const TargetAnalysis &around) {
    ErrorsNameModule handler(module);
    ReportDetail detail;
    // An HTML page shows derivations.
    detail.explain = format == "html";
    return priceOutcome(module, TargetAnalysis(module, around), detail);
  }
};

} // namespace

FailureOr<PlanOutcome>
autopar::transforms::priceOutcome(ModuleOp module, const TargetAnalysis &target,
                                  const ReportDetail &detail) {
  CostProgramAnalysis analysis(module);
  FailureOr<Report> report = estimateModule(module, analysis, target, detail);
  if (failed(report))
    return failure();
  PlanOutcome outcome = outcomeOf(module, analysis);
  outcome.report = std::move(*report);
  return outcome;
}
