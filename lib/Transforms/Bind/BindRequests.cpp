//===- BindRequests.cpp ---------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Transforms/Passes.h"

#include "Strategy.h"

#include "autopar/Evaluate/Pipeline.h"
#include "autopar/Transforms/Price/Estimate.h"

namespace autopar::transforms {
#define GEN_PASS_DEF_BINDREQUESTSPASS
#include "autopar/Transforms/Passes.h.inc"
} // namespace autopar::transforms

using namespace autopar;
using namespace autopar::evaluation;
using namespace autopar::program;
using namespace autopar::transformer;
using namespace autopar::transforms;
using namespace mlir;

namespace {

struct BindRequestsPass
    : autopar::transforms::impl::BindRequestsPassBase<BindRequestsPass> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto ops = module.getOps<RequestsOp>();
    RequestsOp op = ops.empty() ? RequestsOp() : *ops.begin();
    if (!op && failed(checkComplete(module)))
      return signalPassFailure();
    if (!module.getOps<parallel::StagesOp>().empty()) {
      (void)emitError(module, requestsOverStages());
      return signalPassFailure();
    }
    if (failed(readTexts(module)))
      return signalPassFailure();
    if (!op)
      op = createOp(module);
    apply(op);
    // Numbers come as users wrote them.
    if (failed(op.verify()))
      signalPassFailure();
  }

private:
  LogicalResult checkComplete(ModuleOp module) {
    std::pair<bool, StringRef> needed[] = {
        {rate != 0 || concurrency != 0,
         "how many there are: a rate or a concurrency"},
        {!prompt.empty(), "the tokens of their prompts"},
        {!output.empty(), "the tokens of their output"}};
    for (auto [given, what] : needed)
      if (!given)
        return emitError(module,
                         {"", "the module has no requests: give " + what.str(),
                          "as in --rate=20 --prompt=2000 --output-tokens=300"});
    return success();
  }

  LogicalResult readTexts(ModuleOp module) {
    std::tuple<StringRef, const std::string &, LengthsAttr &> lengths[] = {
        {"prompt = ", prompt, ofPrompt}, {"output = ", output, ofOutput}};
    for (auto [name, text, attr] : lengths) {
      if (text.empty())
        continue;
      Result<TokenLengths> read = TokenLengths::parse(text);
      if (!read)
        return emitError(module, read.error().behind(name.str()));
      attr = LengthsAttr::get(&getContext(), *read);
    }
    if (sla.empty())
      return success();
    Result<ServiceLimits> read = parseServiceLimits(sla, std::nullopt);
    if (!read)
      return emitError(module, read.error().behind("sla = "));
    limits = LimitsAttr::get(&getContext(), *read);
    return success();
  }

  RequestsOp createOp(ModuleOp module) {
    OpBuilder builder = builderOfFacts(module);
    return RequestsOp::create(builder, module.getLoc(), FloatAttr(),
                              IntegerAttr(), ofPrompt, ofOutput, FloatAttr(),
                              DenseF64ArrayAttr(), FloatAttr(), LimitsAttr());
  }

  /// A rate takes the place of a concurrency, and the other way round.
  void apply(RequestsOp op) {
    Builder builder(&getContext());
    if (rate != 0 || concurrency != 0) {
      op.setRateAttr(rate != 0 ? builder.getF64FloatAttr(rate) : FloatAttr());
      op.setConcurrencyAttr(concurrency != 0
                                ? builder.getI64IntegerAttr(concurrency)
                                : IntegerAttr());
    }
    if (ofPrompt)
      op.setPromptAttr(ofPrompt);
    if (ofOutput)
      op.setOutputAttr(ofOutput);
    if (cached >= 0)
      op.setCachedAttr(builder.getF64FloatAttr(cached));
    if (!acceptance.empty())
      op.setAcceptanceAttr(builder.getDenseF64ArrayAttr(acceptance));
    if (draftCost >= 0)
      op.setDraftCostAttr(builder.getF64FloatAttr(draftCost));
    if (limits)
      op.setSlaAttr(limits);
  }

  /// What texts say; null where none is given.
  LengthsAttr ofPrompt, ofOutput;
  LimitsAttr limits;
};

} // namespace
