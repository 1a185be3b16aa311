//===- FitRecomputation.cpp -----------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Transforms/Passes.h"

#include "autopar/Dialect/Parallel/Parallel.h"
#include "autopar/Dialect/Transformer/Training.h"
#include "autopar/Report/RecomputationLadder.h"
#include "autopar/Transforms/Price/Estimate.h"

#include "mlir/Pass/PassManager.h"

namespace autopar {
#define GEN_PASS_DEF_FITRECOMPUTATIONPASS
#include "autopar/Transforms/Passes.h.inc"
} // namespace autopar

using namespace autopar;
using namespace autopar::transformer;
using namespace mlir;

namespace {

struct FitRecomputationPass
    : autopar::impl::FitRecomputationPassBase<FitRecomputationPass> {
  using Base::Base;

  /// What the pipeline makes must be loaded before it runs.
  void getDependentDialects(DialectRegistry &registry) const override {
    Base::getDependentDialects(registry);
    std::string ignored;
    llvm::raw_string_ostream os(ignored);
    FailureOr<OpPassManager> passes = parsePassPipeline(textFor({}), os);
    if (succeeded(passes))
      passes->getDependentDialects(registry);
  }

  void runOnModule() override {
    std::optional<PricedRecomputation> none = price({});
    std::optional<RecomputationChoice> choice;
    if (none)
      choice = chooseRecomputation(
          *none, layersOfStage,
          [&](const Recomputation &what) { return price(what); });
    if (!choice || failed(make(*choice)))
      signalPassFailure();
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

  /// Of a copy, whose warnings are not said.
  std::optional<PricedRecomputation> price(const Recomputation &what) {
    FailureOr<OpPassManager> passes = passesFor(what);
    if (failed(passes))
      return std::nullopt;
    ScopedDiagnosticHandler handler(&getContext(), [](Diagnostic &diagnostic) {
      return failure(diagnostic.getSeverity() == DiagnosticSeverity::Error);
    });
    OwningOpRef<ModuleOp> copy(getOperation().clone());
    PassManager pm(&getContext());
    static_cast<OpPassManager &>(pm) = std::move(*passes);
    if (failed(pm.run(*copy)))
      return std::nullopt;
    FailureOr<Report> report = estimateModule(*copy, CostProgramAnalysis(*copy),
                                              TargetAnalysis(*copy));
    if (failed(report))
      return std::nullopt;
    for (parallel::StagesOp stages : copy->getOps<parallel::StagesOp>())
      for (const LayerRange &range : stages.getRanges())
        layersOfStage = std::max(layersOfStage, range.end - range.begin);
    const auto &memory = report->memory.perDevice;
    return PricedRecomputation{what, memory.totalBytes - memory.budgetBytes,
                               report->latency.stepTimeUs};
  }

  /// Of the module itself.
  LogicalResult make(const RecomputationChoice &choice) {
    FailureOr<OpPassManager> passes = passesFor(choice.chosen.what);
    if (failed(passes) || failed(runPipeline(*passes, getOperation())))
      return failure();
    if (choice.tried.empty())
      return success();
    SmallVector<std::string> tried;
    SmallVector<int64_t> missing;
    for (const PricedRecomputation &one : choice.tried) {
      tried.push_back(one.what.str());
      missing.push_back(one.missingBytes);
    }
    Builder builder(&getContext());
    for (auto training : getOperation().getOps<TrainingOp>()) {
      training.setTriedAttr(
          builder.getStrArrayAttr(llvm::to_vector_of<StringRef>(tried)));
      training.setMissing(ArrayRef<int64_t>(missing));
    }
    return success();
  }

  /// At the most, in what was priced.
  int64_t layersOfStage = 0;
};

} // namespace
