//===- PrepareTraining.cpp ------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Transforms/Passes.h"

#include "../Bind/Strategy.h"
#include "TrainingForms.h"

#include "autopar/Dialect/Training/Training.h"

#include "llvm/ADT/TypeSwitch.h"

namespace autopar::transforms {
#define GEN_PASS_DEF_PREPARETRAININGPASS
#include "autopar/Transforms/Passes.h.inc"
} // namespace autopar::transforms

using namespace autopar;
using namespace autopar::placement;
using namespace autopar::program;
using namespace autopar::schedule;
using namespace autopar::training;
using namespace autopar::transformer;
using namespace autopar::transforms;
using namespace mlir;

Type autopar::transforms::typeWithLast(Value like, int64_t size) {
  TensorView view(like);
  SmallVector<int64_t> shape(view.getType().getShape());
  SmallVector<NamedExtent> names = namesOf(view);
  shape.back() = size;
  names.back() = NamedExtent();
  return getTensorType(shape, names, view.getType().getElementType());
}

/// Returns the type of one number per token of `scores`.
static Type typeOfTokens(Value scores, Type element) {
  TensorView view(scores);
  return getTensorType(view.getType().getShape().drop_back(),
                       ArrayRef(namesOf(view)).drop_back(), element);
}

Value autopar::transforms::lossOf(OpBuilder &builder, Location loc,
                                  Value scores, Value labels,
                                  const LossChoice &choice) {
  Type f32 = builder.getF32Type();
  Type losses = typeOfTokens(scores, f32);
  if (!choice.form || widensScores(*choice.form)) {
    TensorView view(scores);
    Type wide = getTensorType(view.getType().getShape(), namesOf(view), f32);
    scores = CastOp::create(builder, loc, wide, scores);
  }
  auto form =
      choice.form ? builder.getStringAttr(nameOf(*choice.form)) : StringAttr();
  auto chunks = choice.chunks > 1 ? builder.getI64IntegerAttr(choice.chunks)
                                  : IntegerAttr();
  return CrossEntropyOp::create(builder, loc, losses, scores, labels, form,
                                chunks);
}

namespace {

struct PrepareTrainingPass
    : autopar::transforms::impl::PrepareTrainingPassBase<PrepareTrainingPass> {
  using Base::Base;

  void runOnModule() override {
    ModuleOp module = getOperation();
    SymbolBindingOpInterface step = findWorkload(module);
    if (!step || step.getWorkload().phase != Phase::train)
      return;
    if (dropout < 0 || dropout >= 1) {
      module.emitError() << "dropout = " << dropout.getValue()
                         << ", expected 0 to below 1";
      return signalPassFailure();
    }
    if (failed(readLoss(module)))
      return signalPassFailure();
    for (auto function : module.getOps<func::FuncOp>())
      if (function.isPublic() && !function.isExternal() &&
          failed(addLoss(function)))
        return signalPassFailure();
  }

private:
  LogicalResult readLoss(ModuleOp module) {
    choice = {parseLossForm(loss.getValue()), lossChunks.getValue()};
    if (!loss.empty() && !choice.form)
      return module.emitError()
             << "unknown loss '" << loss << "', expected " << lossFormChoices();
    if (lossChunks < 1)
      return module.emitError() << "loss-chunks = " << lossChunks.getValue()
                                << ", expected 1 or more";
    return success();
  }

  LogicalResult addLoss(func::FuncOp entry) {
    Operation *end = entry.getBody().front().getTerminator();
    auto isLoss = [](Value value) {
      return value.getDefiningOp<CrossEntropyOp>() != nullptr;
    };
    if (end->getNumOperands() > 0 && llvm::all_of(end->getOperands(), isLoss))
      return success();
    ModuleOp module = getOperation();
    leaveOutEncoders(module, entry);
    expandLatentAttention(module);
    if (failed(dropCaches(module)))
      return failure();
    scoreAllTokens(module);
    if (!flash) {
      writeProbabilities(module);
      stateKnob(module, "unfused-attention", UnitAttr::get(&getContext()));
    }
    if (dropout > 0) {
      drop(module, entry);
      stateKnob(module, "dropout",
                Builder(&getContext()).getF64FloatAttr(dropout));
    }
    if (failed(compareWithLabels(entry)))
      return failure();
    return predictFurtherTokens(module, entry, mtpLayers, choice);
  }

  /// Removes KV caches and states: all tokens are those of the step, with which
  /// the sequences begin.
  static LogicalResult dropCaches(ModuleOp module) {
    module.walk([](Operation *op) {
      llvm::TypeSwitch<Operation *>(op)
          .Case<AttentionOp, IndexerOp>(
              [](auto attention) { attention.getCacheMutable().clear(); })
          .Case<ShortConvOp, StateSpaceOp, GatedDeltaRuleOp, LinearAttentionOp>(
              [](auto recurrent) { recurrent.getStateMutable().clear(); });
    });
    SmallVector<Operation *> unused;
    WalkResult result = module.walk([&](Operation *op) {
      if (!isa<KVCacheOp, StateOp>(op))
        return WalkResult::advance();
      if (!op->use_empty()) {
        (*op->user_begin())
            ->emitOpError("needs a cache or a state: it has no form for "
                          "training yet");
        return WalkResult::interrupt();
      }
      unused.push_back(op);
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      return failure();
    for (Operation *op : unused)
      op->erase();
    return success();
  }

  /// Makes the ops that follow the last token work on all tokens.
  static void scoreAllTokens(ModuleOp module) {
    SmallVector<LastTokenOp> lasts;
    module.walk([&](LastTokenOp op) { lasts.push_back(op); });
    for (LastTokenOp op : lasts) {
      NamedExtent tokens = TensorView(op.getX()).extent(1);
      SmallVector<Value> changed = {op.getResult()};
      for (size_t i = 0; i < changed.size(); ++i)
        for (Operation *user : changed[i].getUsers())
          for (Value result : user->getResults()) {
            result.setType(withTokens(result.getType(), tokens));
            changed.push_back(result);
          }
      op.getResult().replaceAllUsesWith(op.getX());
      auto function = op->getParentOfType<func::FuncOp>();
      op.erase();
      Operation *end = function.getBody().front().getTerminator();
      function.setType(FunctionType::get(op.getContext(),
                                         function.getArgumentTypes(),
                                         end->getOperandTypes()));
    }
  }

  /// Returns `type` with a dimension of tokens after the first one.
  static Type withTokens(Type type, NamedExtent tokens) {
    TensorView view(type);
    SmallVector<int64_t> shape(view.getType().getShape());
    SmallVector<NamedExtent> names = namesOf(view);
    bool isNumber = !tokens.isSymbolic();
    shape.insert(shape.begin() + 1,
                 isNumber ? tokens.factor() : ShapedType::kDynamic);
    names.insert(names.begin() + 1, isNumber ? NamedExtent() : tokens);
    return getTensorType(shape, names, view.getType().getElementType());
  }

  //===--------------------------------------------------------------------===//
  // Replacing attention by one that writes its probabilities
  //===--------------------------------------------------------------------===//

  void writeProbabilities(ModuleOp module) {
    SmallVector<AttentionOp> all;
    module.walk([&](AttentionOp op) {
      bool isPlain = !op.getCache() && !op.getSinks() && !op.getBias() &&
                     !op.getDown() && !op.getDistances() && !op.getSoftcap() &&
                     !op.getChunk();
      if (isPlain)
        all.push_back(op);
    });
    for (AttentionOp op : all) {
      OpBuilder builder(op);
      Value probabilities = AttentionProbabilitiesOp::create(
          builder, op.getLoc(), probabilityTypeOf(op), op.getQuery(),
          op.getKey(), op.getCausalAttr(), op.getWindowAttr(),
          op.getScaleAttr(), op.getAlibiAttr());
      if (dropout > 0)
        probabilities = dropOf(builder, probabilities);
      auto attend =
          AttendOp::create(builder, op.getLoc(), op.getResult().getType(),
                           probabilities, op.getValue());
      op.getResult().replaceAllUsesWith(attend.getResult());
      op.erase();
    }
  }

  /// Returns the type of an attention's probabilities: `[batch, heads, query,
  /// tokens]`.
  static Type probabilityTypeOf(AttentionOp op) {
    TensorView query(op.getQuery()), key(op.getKey());
    SmallVector<int64_t> shape;
    SmallVector<NamedExtent> names;
    auto add = [&](const TensorView &view, unsigned dim) {
      shape.push_back(view.getType().getDimSize(dim));
      names.push_back(view.dim(dim).extent);
    };
    add(query, 0);
    add(query, 2);
    add(query, 1);
    add(key, 1);
    return getTensorType(shape, names, query.getType().getElementType());
  }

  //===--------------------------------------------------------------------===//
  // Adding dropout
  //===--------------------------------------------------------------------===//

  static Type maskTypeOf(Value value) {
    RankedTensorType type = tensorOf(value.getType());
    return RankedTensorType::get(type.getShape(),
                                 IntegerType::get(value.getContext(), 8),
                                 type.getEncoding());
  }

  Value dropOf(OpBuilder &builder, Value value) {
    FloatAttr probability = builder.getF64FloatAttr(dropout);
    auto mask =
        DropoutMaskOp::create(builder, value.getLoc(), maskTypeOf(value), value,
                              probability, builder.getI64IntegerAttr(seeds++));
    return DropoutOp::create(builder, value.getLoc(), value.getType(), value,
                             mask, probability);
  }

  /// Adds dropout to embeddings, and to the outputs of linear maps that are
  /// added to a residual.
  void drop(ModuleOp module, func::FuncOp entry) {
    SmallVector<OpOperand *> dropped;
    module.walk([&](AddOp op) {
      for (OpOperand &operand : op->getOpOperands())
        if (operand.get().getDefiningOp<LinearOp>())
          dropped.push_back(&operand);
    });
    entry.walk([&](RepeatOp op) {
      for (OpOperand &init : op.getInitArgsMutable())
        if (isa_and_present<EmbeddingOp, PositionEmbeddingOp>(
                init.get().getDefiningOp()))
          dropped.push_back(&init);
    });
    for (OpOperand *operand : dropped) {
      OpBuilder builder(operand->getOwner());
      operand->set(dropOf(builder, operand->get()));
    }
  }

  //===--------------------------------------------------------------------===//
  // Adding the loss
  //===--------------------------------------------------------------------===//

  /// Adds the loss; the labels have the type of the token ids with which the
  /// model begins.
  LogicalResult compareWithLabels(func::FuncOp entry) {
    Operation *end = entry.getBody().front().getTerminator();
    Value logits = end->getNumOperands() == 1 ? end->getOperand(0) : Value();
    RankedTensorType type = logits ? tensorOf(logits.getType()) : nullptr;
    if (!type || type.getRank() < 2)
      return entry.emitOpError("returns no scores of tokens, which a loss "
                               "would compare with labels");
    OpBuilder builder(end);
    unsigned count = entry.getNumArguments();
    if (failed(entry.insertArgument(count,
                                    typeOfTokens(logits, builder.getI32Type()),
                                    {}, entry.getLoc())))
      return failure();
    Value loss = lossOf(builder, end->getLoc(), logits,
                        entry.getArgument(count), choice);
    end->setOperands(loss);
    entry.setType(FunctionType::get(
        entry.getContext(), entry.getArgumentTypes(), {loss.getType()}));
    return success();
  }

  int64_t seeds = 0;
  LossChoice choice;
};

} // namespace
