//===- BackwardBuilder.cpp ------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BackwardBuilder.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"

using namespace autopar;
using namespace autopar::schedule;
using namespace autopar::transforms;
using namespace autopar::training;
using namespace autopar::transformer;
using namespace mlir;

#include "autopar/Transforms/Train/Differentiable.cpp.inc"

static bool isFloat(Value value) {
  return isa<FloatType>(tensorOf(value.getType()).getElementType());
}

BackwardBuilder::BackwardBuilder(BackwardOf &functions, MadeAgain again,
                                 Type gradientFormat, FindBackward find)
    : functions(functions), again(std::move(again)),
      gradientFormat(gradientFormat), find(find),
      builder(functions.forward.getContext()) {}

//===----------------------------------------------------------------------===//
// Collecting gradients
//===----------------------------------------------------------------------===//

/// Whether `value` needs a gradient. Inputs of the model do not.
bool BackwardBuilder::wants(Value value) const {
  return isFloat(value) && !(isEntry && isa<BlockArgument>(value) &&
                             cast<BlockArgument>(value).getOwner() ==
                                 &functions.forward.getBody().front());
}

Type BackwardBuilder::gradientTypeOf(Value weight) const {
  return RankedTensorType::get(tensorOf(weight.getType()).getShape(),
                               gradientFormat);
}

void BackwardBuilder::add(Value value, Value gradient) {
  if (!wants(value))
    return;
  if (findWeight(value)) {
    AccumulateOp::create(builder, value.getLoc(), gradient, valueOf(value));
    return;
  }
  Value &known = gradients[value];
  known = known ? AddOp::create(builder, value.getLoc(), gradient.getType(),
                                known, gradient)
                      .getResult()
                : gradient;
}

void BackwardBuilder::addProduct(Operation *op, Value value, ProductRole role,
                                 Value lhs, Value rhs) {
  bool isWeight = role == ProductRole::weight;
  add(value, ProductGradientOp::create(
                 builder, op->getLoc(),
                 isWeight ? gradientTypeOf(value) : value.getType(), role, lhs,
                 rhs, isWeight ? valueOf(value) : Value()));
}

//===----------------------------------------------------------------------===//
// Saving and computing again values of the forward
//===----------------------------------------------------------------------===//

/// Adds a copy of a forward op to the backward: a value that is not saved is
/// computed again from those that are.
Operation *BackwardBuilder::runAgain(Operation *op) {
  IRMapping operands;
  for (Value operand : op->getOperands())
    operands.map(operand, valueOf(operand));
  return builder.clone(*op, operands);
}

Value BackwardBuilder::makeAgain(Value value) {
  Operation *op = value.getDefiningOp();
  for (auto [old, made] :
       llvm::zip_equal(op->getResults(), runAgain(op)->getResults()))
    values[old] = made;
  return values[value];
}

Value BackwardBuilder::ownValueOf(Value result) {
  Operation *op = result.getDefiningOp();
  unsigned number = cast<OpResult>(result).getResultNumber();
  return again.inside.contains(op) ? runAgain(op)->getResult(number)
                                   : valueOf(result);
}

/// Returns a name for a saved value, as the value is printed: "norm", "norm_1".
std::string BackwardBuilder::nameFor(Value value) {
  std::string base = "x";
  if (auto op = value.getDefiningOp<OpAsmOpInterface>())
    op.getAsmResultNames([&](Value result, StringRef name) {
      if (result == value)
        base = name.str();
    });
  std::string name = base;
  for (unsigned i = 1; !names.insert(name).second; ++i)
    name = base + "_" + std::to_string(i);
  return name;
}

Value BackwardBuilder::save(Value value) {
  OpBuilder forward(builder.getContext());
  forward.setInsertionPointAfterValue(value);
  std::string name = nameFor(value);
  SaveOp::create(forward, value.getLoc(), value, name);
  return SavedOp::create(builder, value.getLoc(), value.getType(), name);
}

Value BackwardBuilder::valueOf(Value value) {
  if (Value known = values.lookup(value))
    return known;
  if (again.ops.contains(value.getDefiningOp()))
    return makeAgain(value);
  OpBuilder::InsertionGuard guard(builder);
  if (lastGiven)
    builder.setInsertionPointAfter(lastGiven);
  else
    builder.setInsertionPointToStart(&functions.backward.getBody().front());
  Operation *op = value.getDefiningOp();
  Value given = isa_and_present<WeightOp>(op) ? builder.clone(*op)->getResult(0)
                                              : save(value);
  lastGiven = given.getDefiningOp();
  return values[value] = given;
}

//===----------------------------------------------------------------------===//
// Building the backwards of ops
//===----------------------------------------------------------------------===//

/// Returns the gradient of `value`; 0 if the loss does not depend on it.
Value BackwardBuilder::gradientOrZeros(Value value) {
  Value known = gradientOf(value);
  return known ? known
               : ZerosOp::create(builder, value.getLoc(), value.getType());
}

/// Returns the gradients of those of `values` that have any: token ids have
/// none.
SmallVector<Value> BackwardBuilder::gradientsOf(ValueRange values) {
  SmallVector<Value> all;
  for (Value value : llvm::make_filter_range(values, isFloat))
    all.push_back(gradientOrZeros(value));
  return all;
}

LogicalResult BackwardBuilder::runCall(func::CallOp call) {
  auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
      call, call.getCalleeAttr());
  if (!callee)
    return failure();
  SmallVector<Value> incoming = gradientsOf(call.getResults());
  FailureOr<BackwardOf> made = find(callee);
  if (failed(made))
    return failure();
  auto back =
      func::CallOp::create(builder, call.getLoc(), made->backward, incoming);
  for (auto [argument, gradient] :
       llvm::zip_equal(made->arguments, back.getResults()))
    add(call.getOperand(argument), gradient);
  return success();
}

/// Returns values from outside of the loop to which its iterations add
/// gradients: the encoded tokens that each layer of a decoder reads.
FailureOr<BackwardBuilder::Values>
BackwardBuilder::findShared(RepeatOp repeat) {
  Values shared;
  auto collect = [&](Value value) {
    if (!repeat.getBody().isAncestor(value.getParentRegion()) && wants(value) &&
        !findWeight(value))
      shared.insert(value);
  };
  WalkResult result = repeat.walk([&](func::CallOp call) {
    auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
        call, call.getCalleeAttr());
    FailureOr<BackwardOf> made =
        callee ? find(callee) : FailureOr<BackwardOf>(failure());
    if (failed(made))
      return WalkResult::interrupt();
    for (unsigned argument : made->arguments)
      collect(call.getOperand(argument));
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    return failure();
  repeat.walk(
      [&](YieldOp yield) { llvm::for_each(yield.getValues(), collect); });
  return shared;
}

/// Fills the body of `back`, which carries the gradients of the values that
/// `repeat` carries, and then those of `shared`.
LogicalResult BackwardBuilder::runIterations(RepeatOp repeat, RepeatOp back,
                                             const Values &shared) {
  OpBuilder::InsertionGuard guard(builder);
  mlir::Block &body = repeat.getBody().front();
  mlir::Block &block = back.getBody().emplaceBlock();
  block.addArguments(
      back.getResultTypes(),
      SmallVector<Location>(back.getNumResults(), repeat.getLoc()));
  builder.setInsertionPointToStart(&block);
  size_t count = back.getNumResults() - shared.size();
  for (auto [value, argument] :
       llvm::zip_equal(shared, block.getArguments().drop_front(count)))
    gradients[value] = argument;
  size_t next = 0;
  for (Value yielded : body.getTerminator()->getOperands())
    if (isFloat(yielded))
      add(yielded, block.getArgument(next++));
  if (failed(runBlock(body)))
    return failure();
  SmallVector<Value> outgoing = gradientsOf(body.getArguments());
  llvm::append_range(outgoing, gradientsOf(shared.getArrayRef()));
  YieldOp::create(builder, repeat.getLoc(), outgoing);
  return success();
}

/// Builds the loop of the backward, which runs the iterations in reverse, with
/// falling numbers of layers.
LogicalResult BackwardBuilder::runRepeat(RepeatOp repeat) {
  for (Operation &op : repeat.getBody().front().without_terminator())
    if (!isa<func::CallOp, RepeatOp>(op))
      return op.emitOpError("lies between layers: what it needs of each "
                            "iteration is not saved");
  FailureOr<Values> shared = findShared(repeat);
  if (failed(shared))
    return failure();
  SmallVector<Value> incoming = gradientsOf(repeat.getResults());
  llvm::append_range(incoming, gradientsOf(shared->getArrayRef()));
  auto back = RepeatOp::create(
      builder, repeat.getLoc(), TypeRange(ValueRange(incoming)),
      repeat.getCountAttr(), repeat.getPrefixAttr(), repeat.getFirstAttr(),
      repeat.getPrefix() ? builder.getUnitAttr() : UnitAttr(), incoming);
  if (failed(runIterations(repeat, back, *shared)))
    return failure();
  size_t next = 0;
  for (Value init : repeat.getInitArgs())
    if (isFloat(init))
      add(init, back.getResult(next++));
  for (Value value : *shared)
    gradients[value] = back.getResult(next++);
  return success();
}

LogicalResult BackwardBuilder::runOp(Operation *op) {
  bool isReached = llvm::any_of(op->getResults(), [&](Value result) {
    return gradients.contains(result);
  });
  if (!isReached || isa<HeldOpInterface>(op))
    return success();
  if (auto call = dyn_cast<func::CallOp>(op))
    return runCall(call);
  if (auto repeat = dyn_cast<RepeatOp>(op))
    return runRepeat(repeat);
  if (auto known = dyn_cast<DifferentiableOpInterface>(op))
    return known.buildBackward(*this);
  return op->emitOpError("has no backward yet: no gradient passes through it");
}

LogicalResult BackwardBuilder::runBlock(mlir::Block &block) {
  SmallVector<Operation *> ops;
  for (Operation &op : block.without_terminator())
    ops.push_back(&op);
  for (Operation *op : llvm::reverse(ops))
    if (failed(runOp(op)))
      return failure();
  return success();
}

LogicalResult BackwardBuilder::run(bool ofEntry) {
  isEntry = ofEntry;
  mlir::Block &forward = functions.forward.getBody().front();
  mlir::Block &backward = functions.backward.getBody().front();
  builder.setInsertionPointToEnd(&backward);
  Operation *end = forward.getTerminator();
  if (isEntry) {
    for (auto [input, own] :
         llvm::zip_equal(forward.getArguments(), backward.getArguments()))
      values[input] = own;
    // The gradient of the loss is 1, which the backward of ops that compute
    // losses assumes.
    for (Value loss : end->getOperands())
      gradients[loss] = Value();
  } else {
    SmallVector<Value> results;
    for (Value result : end->getOperands())
      if (isFloat(result))
        results.push_back(result);
    for (auto [result, gradient] :
         llvm::zip_equal(results, backward.getArguments()))
      add(result, gradient);
  }
  if (failed(runBlock(forward)))
    return failure();
  SmallVector<Value> outgoing;
  for (BlockArgument argument : forward.getArguments())
    if (Value gradient = isEntry ? Value() : gradientOf(argument)) {
      outgoing.push_back(gradient);
      functions.arguments.push_back(argument.getArgNumber());
    }
  func::ReturnOp::create(builder, functions.forward.getLoc(), outgoing);
  functions.backward.setType(
      FunctionType::get(builder.getContext(), backward.getArgumentTypes(),
                        TypeRange(ValueRange(outgoing))));
  return success();
}
