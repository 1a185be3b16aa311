//===- FitRecomputation.cpp -----------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Transforms/Passes.h"

#include "LayerParts.h"
#include "autopar/Dialect/Training/Training.h"
#include "autopar/Evaluate/RecomputationLadder.h"
#include "autopar/Transforms/Price/Estimate.h"

#include "mlir/Pass/PassManager.h"

namespace autopar::transforms {
#define GEN_PASS_DEF_FITRECOMPUTATIONPASS
#include "autopar/Transforms/Passes.h.inc"
} // namespace autopar::transforms

using namespace autopar;
using namespace autopar::analysis;
using namespace autopar::estimation;
using namespace autopar::evaluation;
using namespace autopar::program;
using namespace autopar::report;
using namespace autopar::schedule;
using namespace autopar::training;
using namespace autopar::transformer;
using namespace autopar::transforms;
using namespace mlir;

namespace {

struct FitRecomputationPass
    : autopar::transforms::impl::FitRecomputationPassBase<
          FitRecomputationPass> {
  using Base::Base;

  FitRecomputationPass(const FitRecomputationPass &other) : Base(other) {}

  /// Loads the dialects of the inner pipeline, which must be loaded before it
  /// runs.
  void getDependentDialects(DialectRegistry &registry) const override {
    Base::getDependentDialects(registry);
    std::string ignored;
    llvm::raw_string_ostream os(ignored);
    FailureOr<OpPassManager> passes = parsePassPipeline(textFor({}), os);
    if (succeeded(passes))
      passes->getDependentDialects(registry);
  }

  void runOnModule() override {
    layersOfStage = 0;
    std::optional<PricedRecomputation> none = price({});
    std::optional<RecomputationChoice> choice;
    if (none)
      choice = chooseRecomputation(
          *none, partsIn(getOperation()), layersOfStage,
          [&](const Recomputation &what) { return price(what); });
    if (choice)
      take(*choice);
    else
      signalPassFailure();
    made.clear();
    target.reset();
  }

private:
  std::string textFor(const Recomputation &what) const {
    constexpr StringLiteral open = "recompute=auto";
    std::string text = pipeline;
    std::string stated = "recompute=" + what.str();
    for (size_t at = text.find(open); at != std::string::npos;
         at = text.find(open, at + stated.size()))
      text.replace(at, open.size(), stated);
    return text;
  }

  /// Returns the passes that build and price a plan with this recomputation.
  /// Errors are emitted.
  FailureOr<OpPassManager> passesFor(const Recomputation &what) {
    std::string why;
    llvm::raw_string_ostream os(why);
    FailureOr<OpPassManager> passes = parsePassPipeline(textFor(what), os);
    if (failed(passes))
      getOperation().emitError()
          << "cannot parse the pipeline: " << StringRef(why).trim();
    return passes;
  }

  /// A copy of the module with one recomputation, and the warnings that its
  /// passes emitted.
  struct Made {
    Recomputation what;
    OwningOpRef<ModuleOp> module;
    std::vector<Diagnostic> said;
  };

  /// While the returned object exists, warnings are kept in `said`.
  static ScopedDiagnosticHandler keepWarnings(MLIRContext &context,
                                              std::vector<Diagnostic> &said) {
    return {&context, [&](Diagnostic &diagnostic) {
              if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
                return failure();
              said.push_back(std::move(diagnostic));
              return success();
            }};
  }

  LogicalResult makeCopy(const Recomputation &what) {
    FailureOr<OpPassManager> passes = passesFor(what);
    if (failed(passes))
      return failure();
    Made &copy = made.emplace_back();
    copy.what = what;
    copy.module = getOperation().clone();
    PassManager pm(&getContext());
    static_cast<OpPassManager &>(pm) = std::move(*passes);
    // Only the first copy is verified: others differ from it only in what is
    // recomputed.
    pm.enableVerifier(made.size() == 1);
    ScopedDiagnosticHandler handler = keepWarnings(getContext(), copy.said);
    return pm.run(*copy.module);
  }

  std::optional<PricedRecomputation> price(const Recomputation &what) {
    if (failed(makeCopy(what)))
      return std::nullopt;
    ModuleOp copy = *made.back().module;
    std::vector<Diagnostic> unsaid;
    ScopedDiagnosticHandler handler = keepWarnings(getContext(), unsaid);
    target = target ? TargetAnalysis(copy, *target) : TargetAnalysis(copy);
    ReportDetail detail;
    detail.boundsStages = false;
    FailureOr<Report> report =
        estimateModule(copy, CostProgramAnalysis(copy), *target, detail);
    if (failed(report))
      return std::nullopt;
    for (const LayerRange &range : report->pipeline->partition.ranges)
      layersOfStage = std::max(layersOfStage, range.end - range.begin);
    const auto &memory = report->memory.perDevice;
    return PricedRecomputation{what, memory.totalBytes - memory.budgetBytes,
                               report->latency.stepTimeUs};
  }

  /// Replaces the module by the copy with the chosen recomputation.
  void take(const RecomputationChoice &choice) {
    auto chosen = llvm::find_if(
        made, [&](const Made &one) { return one.what == choice.chosen.what; });
    ModuleOp module = getOperation(), copy = *chosen->module;
    module.getBodyRegion().takeBody(copy.getBodyRegion());
    module->setAttrs(copy->getAttrDictionary());
    for (Diagnostic &diagnostic : chosen->said)
      getContext().getDiagEngine().emit(std::move(diagnostic));
    if (choice.tried.empty())
      return;
    SmallVector<Attribute> tried;
    SmallVector<int64_t> missing;
    for (const PricedRecomputation &one : choice.tried) {
      tried.push_back(RecomputationAttr::get(&getContext(), one.what));
      missing.push_back(one.missingBytes);
    }
    Builder builder(&getContext());
    for (auto training : module.getOps<IterationOp>()) {
      training.setTriedAttr(builder.getArrayAttr(tried));
      training.setMissing(ArrayRef<int64_t>(missing));
    }
  }

  std::vector<Made> made;
  /// The target of all copies of the module, which is the same.
  std::optional<TargetAnalysis> target;
  /// Largest number of layers per stage among the recomputations that were
  /// priced.
  int64_t layersOfStage = 0;
};

} // namespace
