//===- PredictFurtherTokens.cpp - Layers and losses of MTP ----------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TrainingForms.h"

#include "autopar/Dialect/Training/Training.h"

#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/MapVector.h"

using namespace autopar;
using namespace autopar::transforms;
using namespace autopar::training;
using namespace autopar::transformer;
using namespace mlir;

namespace {

/// What the checkpoint has for predicting further tokens: a stored function
/// that repeats a layer, which takes the stream and the embeddings of further
/// tokens.
struct StoredLayers {
  StoredOp stored;
  RepeatOp repeat;
  func::CallOp call;
};

/// Makes copies of a layer, and of the functions that it calls, outside of
/// loops, with the weight names that the checkpoint gives to this layer.
class LayerCopies {
public:
  LayerCopies(RepeatOp repeat, int64_t number)
      : prefix((*repeat.getPrefix() + "." + Twine(number) + ".").str()),
        suffix(("_" + Twine(number)).str()) {}

  func::FuncOp of(func::FuncOp layer) {
    func::FuncOp &copy = copies[layer];
    if (copy)
      return copy;
    OpBuilder builder(layer);
    copy = cast<func::FuncOp>(builder.clone(*layer));
    copy.setName((layer.getName() + suffix).str());
    func::FuncOp made = copy;
    made.walk([&](WeightOp weight) {
      weight.setName((prefix + weight.getName()).str());
    });
    made.walk([&](func::CallOp call) {
      auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
          call, call.getCalleeAttr());
      call.setCallee(of(callee).getName());
    });
    return made;
  }

private:
  std::string prefix, suffix;
  llvm::MapVector<Operation *, func::FuncOp> copies;
};

/// Adds the layers for further tokens to one module.
class FurtherTokens {
public:
  FurtherTokens(ModuleOp module, func::FuncOp entry, const LossChoice &choice)
      : module(module), entry(entry), choice(choice),
        end(entry.getBody().front().getTerminator()) {}

  LogicalResult add(int64_t count);

private:
  LogicalResult findModel();
  StoredLayers findStored();
  void addDepth(func::FuncOp layer, func::CallOp call);

  ModuleOp module;
  func::FuncOp entry;
  const LossChoice &choice;
  Operation *end;
  EmbeddingOp embedding;
  LogitsOp scores;
  /// The output of the previous depth, and the tokens that it predicts.
  Value hidden, labels;
};

} // namespace

LogicalResult FurtherTokens::findModel() {
  entry.walk([&](EmbeddingOp op) {
    if (isa<BlockArgument>(op.getIds()))
      embedding = op;
  });
  auto loss = end->getOperand(0).getDefiningOp<CrossEntropyOp>();
  auto cast = loss.getX().getDefiningOp<CastOp>();
  Value compared = cast ? cast.getX() : loss.getX();
  scores = compared.getDefiningOp<LogitsOp>();
  if (!embedding || !scores)
    return entry.emitOpError("looks up no tokens, or compares other scores "
                             "than a head's with labels: no further tokens "
                             "can be predicted");
  hidden = scores.getX();
  labels = loss.getLabels();
  return success();
}

StoredLayers FurtherTokens::findStored() {
  for (auto stored : module.getOps<StoredOp>()) {
    StoredLayers found = {stored, {}, {}};
    stored.getStoredFunction().walk([&](RepeatOp repeat) {
      auto call = dyn_cast<func::CallOp>(repeat.getBody().front().front());
      if (repeat.getPrefix() && call && call.getNumOperands() == 2)
        found = {stored, repeat, call};
    });
    if (found.repeat)
      return found;
  }
  return {};
}

/// Adds the layer of the next depth: it takes the output of the previous depth
/// and the embeddings of the tokens which that predicts; the model's own head
/// scores the tokens after those.
void FurtherTokens::addDepth(func::FuncOp layer, func::CallOp call) {
  OpBuilder builder(end);
  Location loc = end->getLoc();
  Value next =
      EmbeddingOp::create(builder, loc, embedding.getResult().getType(), labels,
                          embedding.getTable());
  SmallVector<Value> operands;
  for (Value operand : call.getOperands())
    operands.push_back(isa<BlockArgument>(operand) ? hidden : next);
  hidden = func::CallOp::create(builder, loc, layer, operands).getResult(0);
  unsigned count = entry.getNumArguments();
  (void)entry.insertArgument(count, labels.getType(), {}, loc);
  labels = entry.getArgument(count);
  Value logits = LogitsOp::create(builder, loc, scores.getResult().getType(),
                                  hidden, scores.getTable());
  end->insertOperands(end->getNumOperands(),
                      lossOf(builder, loc, logits, labels, choice));
  entry.setType(FunctionType::get(entry.getContext(), entry.getArgumentTypes(),
                                  end->getOperandTypes()));
}

LogicalResult FurtherTokens::add(int64_t count) {
  StoredLayers layers = findStored();
  int64_t most =
      layers.repeat ? static_cast<int64_t>(layers.repeat.getCount()) : 0;
  if (count > most) {
    InFlightDiagnostic diag =
        module.emitError()
        << "mtp_layers = " << count
        << ": of layers that predict further tokens the model has " << most;
    diag.attachNote() << (most ? "give --mtp-layers=" + std::to_string(most) +
                                     " or less"
                               : std::string("leave out --mtp-layers"));
    return diag;
  }
  if (failed(findModel()))
    return failure();
  auto layer = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
      layers.call, layers.call.getCalleeAttr());
  int64_t first = layers.repeat.getFirst();
  for (int64_t number = first; number < first + count; ++number)
    addDepth(LayerCopies(layers.repeat, number).of(layer), layers.call);
  if (count < most) {
    layers.repeat.setFirst(first + count);
    layers.repeat.setCount(most - count);
    return success();
  }
  auto function = layers.stored.getStoredFunction();
  layers.stored.erase();
  function.erase();
  eraseUncalled(module);
  return success();
}

LogicalResult
autopar::transforms::predictFurtherTokens(ModuleOp module, func::FuncOp entry,
                                          int64_t count,
                                          const LossChoice &loss) {
  return count > 0 ? FurtherTokens(module, entry, loss).add(count) : success();
}
