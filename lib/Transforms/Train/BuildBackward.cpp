//===- BuildBackward.cpp --------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Transforms/Passes.h"

#include "BackwardBuilder.h"
#include "RecomputedLayers.h"
#include "autopar/Transforms/Price/Estimate.h"
#include "autopar/Transforms/Train/Backwards.h"

#include "llvm/ADT/MapVector.h"

namespace autopar::transforms {
#define GEN_PASS_DEF_BUILDBACKWARDPASS
#include "autopar/Transforms/Passes.h.inc"
} // namespace autopar::transforms

using namespace autopar;
using namespace autopar::plan;
using namespace autopar::program;
using namespace autopar::schedule;
using namespace autopar::transforms;
using namespace autopar::training;
using namespace autopar::transformer;
using namespace mlir;

void autopar::transforms::registerBackwards(DialectRegistry &registry) {
  registry.addExtension(
      +[](MLIRContext *context, TransformerDialect *, TrainingDialect *) {
        attachTokenBackwards(context);
        attachAttentionBackwards(context);
        attachMixtureBackwards(context);
        attachRecurrentBackwards(context);
      });
}

namespace {

struct BuildBackwardPass
    : autopar::transforms::impl::BuildBackwardPassBase<BuildBackwardPass> {
  using Base::Base;

  BuildBackwardPass(const BuildBackwardPass &other) : Base(other) {}

  void getDependentDialects(DialectRegistry &registry) const override {
    Base::getDependentDialects(registry);
    registerBackwards(registry);
  }

  void runOnModule() override {
    ModuleOp module = getOperation();
    func::FuncOp entry = findEntry(module);
    if (!entry || !module.getOps<IterationOp>().empty())
      return;
    if (failed(readOptions(module)) || failed(build(module, entry)))
      signalPassFailure();
  }

private:
  /// Returns the function that computes the loss; null if there is none.
  static func::FuncOp findEntry(ModuleOp module) {
    for (auto function : module.getOps<func::FuncOp>()) {
      if (!function.isPublic() || function.isExternal())
        continue;
      Operation *end = function.getBody().front().getTerminator();
      bool isLoss = llvm::any_of(end->getOperands(), [](Value value) {
        return value.getDefiningOp<CrossEntropyOp>() != nullptr;
      });
      if (isLoss)
        return function;
    }
    return {};
  }

  FailureOr<Type> readFormat(ModuleOp module, StringRef option,
                             StringRef text) {
    std::optional<ElementType> format = parseElementType(text);
    if (format)
      return fromElementType(module.getContext(), *format);
    return module.emitError() << "unknown " << option << " '" << text
                              << "', expected a format such as fp32 or bf16";
  }

  LogicalResult readRecomputation(ModuleOp module) {
    Result<Recomputation> parsed = Recomputation::parse(recompute.getValue());
    if (!parsed)
      return module.emitError(parsed.error().message);
    what = std::move(*parsed);
    if (what.kind == Recomputation::Kind::fitting)
      return module.emitError("recompute = auto is for "
                              "autopar-fit-recomputation, which tries others");
    staged = {{}, std::max<int64_t>(1, stageCount)};
    if (stages.empty())
      return success();
    Result<std::vector<LayerRange>> ranges = parseRanges(stages);
    if (!ranges)
      return emitError(module, ranges.error());
    staged.ranges = std::move(*ranges);
    return success();
  }

  LogicalResult readOptions(ModuleOp module) {
    if (failed(readRecomputation(module)))
      return failure();
    std::optional<Optimizer> kind = parseOptimizer(optimizer);
    if (!kind)
      return module.emitError()
             << "unknown optimizer '" << optimizer
             << "', expected adamw, adamw-8bit, adafactor, muon, sgd or "
                "sgd-without-momentum";
    FailureOr<Type> gradients =
        readFormat(module, "gradient-format", gradientFormat);
    FailureOr<Type> moment = readFormat(module, "moments", moments);
    if (failed(gradients) || failed(moment))
      return failure();
    productFormat = {};
    if (!products.empty()) {
      std::optional<ElementType> format = parseProductFormat(products);
      if (!format)
        return module.emitError() << "unknown products '" << products
                                  << "', expected " << productFormatChoices();
      productFormat = fromElementType(module.getContext(), *format);
    }
    choice = {*kind, {}, *moment, *gradients};
    if (master == "none")
      return success();
    FailureOr<Type> copy = readFormat(module, "master", master);
    if (failed(copy))
      return failure();
    choice.master = *copy;
    return success();
  }

  LogicalResult build(ModuleOp module, func::FuncOp entry) {
    functions.clear();
    updates.clear();
    again.clear();
    if (what.variesByLayer()) {
      FailureOr<FunctionSet> split = splitRecomputedLayers(entry, what, staged);
      if (failed(split))
        return failure();
      again = std::move(*split);
    }
    FailureOr<BackwardOf> made = makeBackward(entry, /*isEntry=*/true);
    if (failed(made))
      return failure();
    func::FuncOp update = updateOf(entry);
    OpBuilder builder(module.getContext());
    builder.setInsertionPointAfter(update);
    IterationOp::create(
        builder, module.getLoc(), SymbolRefAttr::get(made->backward),
        SymbolRefAttr::get(update),
        RecomputationAttr::get(builder.getContext(), what), ArrayAttr(),
        DenseI64ArrayAttr(),
        productFormat ? TypeAttr::get(productFormat) : TypeAttr(),
        capacity != 0 ? builder.getF64FloatAttr(capacity) : FloatAttr(),
        padExperts ? builder.getUnitAttr() : UnitAttr());
    return success();
  }

  /// Adds a private function with an empty body after `behind`, and returns it.
  static func::FuncOp makeFunction(func::FuncOp forward, StringRef suffix,
                                   ArrayRef<Type> arguments,
                                   Operation *behind) {
    OpBuilder builder(forward.getContext());
    builder.setInsertionPointAfter(behind);
    auto made = func::FuncOp::create(
        builder, forward.getLoc(), (forward.getName() + suffix).str(),
        FunctionType::get(forward.getContext(), arguments, {}));
    made.setPrivate();
    made->setAttr(partOfAttribute, SymbolRefAttr::get(forward));
    if (forward.getNoInline())
      made.setNoInline(true);
    made.addEntryBlock();
    return made;
  }

  /// Returns which ops of a function are recomputed; only layers have such ops.
  MadeAgain madeAgain(func::FuncOp forward, bool isEntry) const {
    bool isLayer =
        !isEntry && (!what.variesByLayer() || again.contains(forward));
    return isLayer ? opsMadeAgain(forward, what) : MadeAgain();
  }

  FailureOr<BackwardOf> makeBackward(func::FuncOp forward, bool isEntry) {
    auto known = functions.find(forward);
    if (known != functions.end())
      return known->second;
    SmallVector<Type> arguments;
    if (isEntry)
      arguments = llvm::to_vector(forward.getArgumentTypes());
    else
      for (Type result : forward.getResultTypes())
        if (isa<FloatType>(tensorOf(result).getElementType()))
          arguments.push_back(result);
    BackwardOf made{
        forward, makeFunction(forward, "_backward", arguments, forward), {}};
    auto find = [&](func::FuncOp callee) {
      return makeBackward(callee, /*isEntry=*/false);
    };
    BackwardBuilder builder(made, madeAgain(forward, isEntry),
                            choice.gradientFormat, find);
    if (failed(builder.run(isEntry)))
      return failure();
    functions[forward] = made;
    return made;
  }

  /// Returns the update function of `forward`; null if no gradient reaches the
  /// function.
  func::FuncOp updateOf(func::FuncOp forward) {
    if (!functions.contains(forward))
      return {};
    func::FuncOp &known = updates[forward];
    if (known)
      return known;
    func::FuncOp made =
        makeFunction(forward, "_update", {}, functions[forward].backward);
    known = made;
    (void)buildUpdate(forward, made, choice,
                      [&](func::FuncOp callee) { return updateOf(callee); });
    return made;
  }

  Recomputation what;
  StagesOfLayers staged;
  /// If layers differ in what is recomputed, the functions of the recomputed
  /// ones.
  FunctionSet again;
  Type productFormat;
  OptimizerChoice choice;
  llvm::MapVector<Operation *, BackwardOf> functions;
  llvm::MapVector<Operation *, func::FuncOp> updates;
};

} // namespace
