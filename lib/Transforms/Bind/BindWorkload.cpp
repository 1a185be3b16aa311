//===- BindWorkload.cpp ---------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Transforms/Passes.h"

#include "autopar/Support/Limits.h"
#include "autopar/Transforms/Price/Estimate.h"

namespace autopar::transforms {
#define GEN_PASS_DEF_BINDWORKLOADPASS
#include "autopar/Transforms/Passes.h.inc"
} // namespace autopar::transforms

using namespace autopar;
using namespace autopar::placement;
using namespace autopar::plan;
using namespace autopar::program;
using namespace autopar::report;
using namespace autopar::schedule;
using namespace autopar::transformer;
using namespace autopar::transforms;
using namespace mlir;

namespace {

struct BindWorkloadPass
    : autopar::transforms::impl::BindWorkloadPassBase<BindWorkloadPass> {
  using Base::Base;

  /// The default of options for which 0 is a value: the module's current value
  /// is kept.
  static constexpr int64_t keep = -1;

  void runOnModule() override {
    ModuleOp module = getOperation();
    auto ops = module.getOps<WorkloadOp>();
    WorkloadOp op = ops.empty() ? WorkloadOp() : *ops.begin();
    Workload workload = op ? op.getWorkload() : Workload();
    if (failed(checkRanges(module)) ||
        failed(checkComplete(module, op != nullptr)) ||
        failed(apply(module, workload)))
      return signalPassFailure();
    ArrayAttr open = assumed(op);
    if (!op)
      op = createOp(module);
    op.setPhase(*symbolizePhaseKind(nameOf(workload.phase)));
    op.setBatch(workload.batch);
    op.setQuery(workload.query);
    op.setContextLength(workload.context);
    op.setEncoderTokens(workload.encoderTokens);
    op.setCrossTokens(workload.crossTokens);
    op.setAssumedAttr(open);
  }

  static WorkloadOp createOp(ModuleOp module) {
    auto builder = OpBuilder::atBlockBegin(module.getBody());
    return WorkloadOp::create(builder, module.getLoc(), StringAttr(),
                              PhaseKind::prefill, 1, 1, 1, /*encoder_tokens=*/0,
                              /*cross_tokens=*/0, builder.getArrayAttr({}));
  }

  /// Returns the fields whose values are still assumed: those that were assumed
  /// before (in a new workload: all), without those that the user gave.
  ArrayAttr assumed(WorkloadOp op) {
    std::pair<StringRef, bool> given[] = {
        {"phase", !phase.empty()},
        {"batch", batch != 0},
        {"query", prompt != 0 || phase == "decode"},
        {"context", prompt != 0 || context != 0}};
    SmallVector<StringRef> words;
    for (auto [name, isGiven] : given)
      if (!isGiven &&
          (!op || llvm::is_contained(
                      op.getAssumed().getAsValueRange<StringAttr>(), name)))
        words.push_back(name);
    return Builder(&getContext()).getStrArrayAttr(words);
  }

  LogicalResult checkRanges(ModuleOp module) {
    std::tuple<StringRef, int64_t, int64_t> options[] = {
        {"batch", batch, 0},
        {"prompt", prompt, 0},
        {"context", context, 0},
        {"encoder-tokens", encoderTokens, keep},
        {"cross-tokens", crossTokens, keep}};
    for (auto [name, value, unset] : options)
      if (value < unset || value > limits::maxTokens)
        return module.emitError() << name << " = " << value << ": expected "
                                  << unset + 1 << " to " << limits::maxTokens;
    return success();
  }

  /// Emits an error if a new workload lacks a size that the user must give.
  LogicalResult checkComplete(ModuleOp module, bool hasWorkload) {
    if (hasWorkload || (phase == "decode" ? context : prompt))
      return success();
    return module.emitError()
           << "the module has no workload: give the "
           << (phase == "decode" ? "context" : "prompt") << " of a "
           << (phase == "decode" ? "decode" : "prefill") << " step";
  }

  LogicalResult apply(ModuleOp module, Workload &workload) {
    if (std::optional<Phase> given = parsePhase(phase.getValue())) {
      // Without a prompt length, the prefill is that of the tokens which the
      // decode step has cached.
      if (*given == Phase::prefill && workload.phase == Phase::decode)
        workload.query = context ? context : workload.context;
      workload.phase = *given;
    } else if (!phase.empty()) {
      return module.emitError() << "unknown phase '" << phase
                                << "', expected prefill, decode or train";
    }
    if (batch)
      workload.batch = batch;
    if (workload.phase == Phase::decode) {
      if (prompt)
        return emitError(module,
                         {"",
                          "a prompt is given for a decode step, which has one "
                          "new token: give the context instead",
                          "leave out --prompt, and give --context=" +
                              std::to_string(prompt)});
      workload.query = 1;
    }
    if (workload.phase == Phase::train && prompt && context &&
        prompt != context)
      return emitError(module,
                       {"",
                        "prompt = " + std::to_string(prompt) +
                            " and context = " + std::to_string(context) +
                            ": training computes whole sequences of one length",
                        "leave out --prompt"});
    if (prompt)
      workload.query = workload.context = prompt;
    if (context)
      workload.context = context;
    // A training iteration computes whole sequences.
    if (workload.phase == Phase::train)
      workload.query = workload.context;
    // The positions to which a decode step attends were encoded by the prefill.
    if (encoderTokens != keep || workload.phase == Phase::decode)
      workload.encoderTokens = std::max<int64_t>(0, encoderTokens);
    if (crossTokens != keep)
      workload.crossTokens = crossTokens;
    if (workload.query > workload.context)
      return module.emitError()
             << "context = " << workload.context << " is below the "
             << workload.query
             << " new tokens, which it counts: give a prompt of at most "
             << workload.context;
    return success();
  }
};

} // namespace
