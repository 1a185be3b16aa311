//===- BindRequests.cpp ---------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Transforms/Passes.h"

#include "Strategy.h"

#include "autopar/Evaluate/Pipeline.h"
#include "autopar/Support/Text.h"
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
  BindRequestsPass() = default;
  /// Copies the pass; the pass manager copies the values of options.
  BindRequestsPass(const BindRequestsPass &other) : Base(other) {}

  void choose(ArrayRef<RequestNumbers> chosen) {
    for (const RequestNumbers &one : chosen)
      *numbers[one.knob - requestKnobs().data()] = ArrayRef(one.numbers);
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto ops = module.getOps<RequestsOp>();
    RequestsOp op = ops.empty() ? RequestsOp() : *ops.begin();
    if (!op && failed(checkComplete(module)))
      return signalPassFailure();
    if (!module.getOps<MicrobatchesOpInterface>().empty()) {
      (void)emitError(module, requestsOverStages());
      return signalPassFailure();
    }
    if (failed(readTexts(module)) || failed(checkNumbers(module)))
      return signalPassFailure();
    if (!op)
      op = createOp(module);
    apply(op);
    // The user's numbers may be invalid, so that the op is verified.
    if (failed(op.verify()))
      signalPassFailure();
  }

private:
  LogicalResult checkComplete(ModuleOp module) {
    std::pair<bool, const char *> needed[] = {
        {rate != 0 || concurrency != 0, "--rate or --concurrency"},
        {!prompt.empty(), "--prompt"},
        {!output.empty(), "--output-tokens"}};
    std::vector<std::string> missing;
    for (auto [given, flag] : needed)
      if (!given)
        missing.push_back(flag);
    if (missing.empty())
      return success();
    bool isService = rate != 0 || concurrency != 0;
    std::string needs = isService ? " needs " : " needs a service: add ";
    return emitError(module,
                     {"", givenFlag() + needs + join(missing, ", "),
                      "as in --rate=20 --prompt=2000 --output-tokens=300"});
  }

  /// Returns the flag of an option that was given, for the error that others
  /// are missing.
  std::string givenFlag() const {
    std::pair<bool, const char *> flags[] = {
        {rate != 0, "--rate"},
        {concurrency != 0, "--concurrency"},
        {!output.empty(), "--output-tokens"},
        {!sla.empty(), "--sla"}};
    for (auto [given, flag] : flags)
      if (given)
        return flag;
    for (auto [knob, given] : llvm::zip_equal(requestKnobs(), numbers))
      if (!given->empty())
        return std::string("--") + knob.flag;
    return "--prompt";
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

  LogicalResult checkNumbers(ModuleOp module) {
    for (auto [knob, given] : llvm::zip_equal(requestKnobs(), numbers))
      if (!knob.isList && given->size() > 1)
        return emitError(
            module,
            {"",
             knob.option + (" has " + Twine(given->size()) + " numbers").str(),
             "give one"});
    return success();
  }

  RequestsOp createOp(ModuleOp module) {
    OpBuilder builder = builderOfFacts(module);
    NamedAttribute lengths[] = {builder.getNamedAttr("prompt", ofPrompt),
                                builder.getNamedAttr("output", ofOutput)};
    return RequestsOp::create(builder, module.getLoc(), TypeRange(),
                              ValueRange(), lengths);
  }

  /// Sets the user's choices on `op`. A rate replaces a concurrency, and vice
  /// versa.
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
    for (auto [knob, given] : llvm::zip_equal(requestKnobs(), numbers))
      if (!given->empty())
        op->setAttr(knob.key, attrOf(knob, **given));
    if (limits)
      op.setSlaAttr(limits);
  }

  Attribute attrOf(const RequestKnob &knob, ArrayRef<double> given) {
    Builder builder(&getContext());
    if (knob.isList)
      return builder.getDenseF64ArrayAttr(given);
    return builder.getF64FloatAttr(given.front());
  }

  using Numbers = std::unique_ptr<ListOption<double>>;
  std::vector<Numbers> makeOptions() {
    std::vector<Numbers> made;
    for (const RequestKnob &knob : requestKnobs())
      made.push_back(std::make_unique<ListOption<double>>(
          *this, knob.option, llvm::cl::desc(knob.help)));
    return made;
  }

  /// The pass options for `requestKnobs`, in the same order.
  std::vector<Numbers> numbers = makeOptions();
  /// The parsed texts of options; null if not given.
  LengthsAttr ofPrompt, ofOutput;
  LimitsAttr limits;
};

} // namespace

std::unique_ptr<Pass>
autopar::transforms::createBindRequestsPass(BindRequestsPassOptions options,
                                            ArrayRef<RequestNumbers> numbers) {
  auto pass = std::make_unique<BindRequestsPass>(std::move(options));
  pass->choose(numbers);
  return pass;
}
