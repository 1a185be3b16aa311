//===- BuildGraph.cpp -----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Drawing.h"

#include "autopar/Analysis/StageBorders.h"
#include "autopar/Dialect/Parallel/Parallel.h"
#include "autopar/Interfaces/Interfaces.h"
#include "autopar/Support/Checked.h"
#include "autopar/Support/Limits.h"

#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace autopar;
using namespace autopar::analysis;
using namespace autopar::graph;
using namespace autopar::program;
using namespace autopar::schedule;
using namespace mlir;

namespace {

using Index = ModuleGraph::Index;

/// A function on a stage; it is drawn only once.
struct Drawn {
  Index cluster = 0;
  SmallVector<std::optional<Source>> results;
  /// For each called function, how often one run of this function runs it.
  llvm::MapVector<Drawn *, Checked> calls;
  Checked runs = 0;
};

/// A function that is running, and the sources of its values so far.
struct Frame {
  FunctionOpInterface function;
  DenseMap<Value, Source> sources;
  SmallVector<LoopLikeOpInterface> loops;
  /// The product of the trip counts of the surrounding loops.
  Checked times = 1;
};

/// Runs through a step of the module. Each function is run once for each stage.
/// Each loop is run once, except loops whose layers are divided into stages.
class StepWalk {
public:
  StepWalk(ModuleOp module, parallel::StagesOp stages)
      : module(module), stages(stages),
        ranges(stages ? stages.getRanges() : std::vector<LayerRange>()),
        drawing(module, ranges) {}

  FailureOr<ModuleGraph> run();

private:
  LogicalResult runEntry(FunctionOpInterface entry, Section section);
  LogicalResult verifyLayers(Operation *function);
  LogicalResult runBlock(Frame &frame, Block &block);
  LogicalResult runOp(Frame &frame, Operation *op);
  LogicalResult runLoop(Frame &frame, LoopLikeOpInterface loop);
  LogicalResult runLayers(Frame &frame, LoopLikeOpInterface loop);
  LogicalResult runCall(Frame &frame, CallOpInterface call);
  FailureOr<Drawn *> draw(FunctionOpInterface function, CallOpInterface call);
  Index drawOp(Frame &frame, Operation *op);
  void drawGiven(Frame &frame, Value value);
  std::optional<Source> sourceOf(Frame &frame, Value value);
  SmallVector<std::optional<Source>> sourcesOf(Frame &frame, OperandRange all);
  void connect(Frame &frame, Value value, Index to);

  Drawn &drawnOf(FunctionOpInterface function);
  Index clusterOf(Frame &frame);
  void enterLayer();
  void countRuns();

  ModuleOp module;
  parallel::StagesOp stages;
  std::vector<LayerRange> ranges;
  Drawing drawing;
  SymbolTableCollection symbols;
  DenseMap<std::pair<Operation *, Stage>, std::unique_ptr<Drawn>> functions;
  /// The functions that have run, each called function before its callers.
  std::vector<Drawn *> finished;
  llvm::SmallPtrSet<Operation *, 8> active;
  size_t depth = 0;

  /// For the outermost function, the loops whose layers are divided into
  /// stages.
  SmallVector<LoopLikeOpInterface> stack;
  Section section = Section::forward;
  int64_t layer = 0;
  Stage stage = 0;
};

} // namespace

//===----------------------------------------------------------------------===//
// The cluster and the stage in which ops are drawn
//===----------------------------------------------------------------------===//

Drawn &StepWalk::drawnOf(FunctionOpInterface function) {
  std::unique_ptr<Drawn> &drawn = functions[{function, stage}];
  if (!drawn) {
    drawn = std::make_unique<Drawn>();
    drawn->cluster = drawing.functionCluster(function, stage);
  }
  return *drawn;
}

Index StepWalk::clusterOf(Frame &frame) {
  Index cluster = drawnOf(frame.function).cluster;
  for (LoopLikeOpInterface loop : frame.loops)
    cluster = drawing.loopCluster(loop, cluster, stage);
  return cluster;
}

/// Goes on to the stage of the next layer. Backwards begin with the last layer.
void StepWalk::enterLayer() {
  int64_t last = ranges.back().end - 1;
  int64_t number = section == Section::backward ? last - layer : layer;
  ++layer;
  stage = llvm::partition_point(
              ranges, [&](LayerRange range) { return range.end <= number; }) -
          ranges.begin();
}

//===----------------------------------------------------------------------===//
// Drawing values and ops
//===----------------------------------------------------------------------===//

/// Draws a value that every stage has, on this stage, with the ops on which it
/// depends.
void StepWalk::drawGiven(Frame &frame, Value value) {
  SmallVector<Operation *> chain;
  for (Operation *op = value.getDefiningOp(); op && !drawing.isDrawn(op, stage);
       op = op->getNumOperands() ? op->getOperand(0).getDefiningOp() : nullptr)
    chain.push_back(op);
  for (Operation *op : llvm::reverse(chain))
    drawOp(frame, op);
}

std::optional<Source> StepWalk::sourceOf(Frame &frame, Value value) {
  Operation *op = value.getDefiningOp();
  if (!op && isa<FunctionOpInterface>(value.getParentBlock()->getParentOp()))
    return Source{drawing.argument(cast<BlockArgument>(value), stage,
                                   drawnOf(frame.function).cluster)};
  if (op && !ranges.empty() && isGiven(value)) {
    drawGiven(frame, value);
    return Source{drawing.node(op, stage, 0)};
  }
  auto known = frame.sources.find(value);
  return known == frame.sources.end() ? std::nullopt
                                      : std::optional(known->second);
}

SmallVector<std::optional<Source>> StepWalk::sourcesOf(Frame &frame,
                                                       OperandRange all) {
  return llvm::map_to_vector(
      all, [&](Value value) { return sourceOf(frame, value); });
}

void StepWalk::connect(Frame &frame, Value value, Index to) {
  if (std::optional<Source> source = sourceOf(frame, value))
    drawing.connect(*source, to, value);
}

/// Draws an op after its operands.
Index StepWalk::drawOp(Frame &frame, Operation *op) {
  SmallVector<std::optional<Source>> sources =
      sourcesOf(frame, op->getOperands());
  Index node = drawing.node(op, stage, clusterOf(frame));
  for (auto [source, operand] : llvm::zip(sources, op->getOperands()))
    if (source)
      drawing.connect(*source, node, operand);
  return node;
}

//===----------------------------------------------------------------------===//
// Running the functions of the module
//===----------------------------------------------------------------------===//

LogicalResult StepWalk::runBlock(Frame &frame, Block &block) {
  for (Operation &op : block.without_terminator())
    if (failed(runOp(frame, &op)))
      return failure();
  return success();
}

LogicalResult StepWalk::runOp(Frame &frame, Operation *op) {
  if (auto loop = dyn_cast<LoopLikeOpInterface>(op))
    return llvm::is_contained(stack, loop) ? runLayers(frame, loop)
                                           : runLoop(frame, loop);
  if (auto call = dyn_cast<CallOpInterface>(op))
    return runCall(frame, call);
  // A value that every stage has is drawn where it is read.
  if (!ranges.empty() && op->getNumResults() == 1 && isGiven(op->getResult(0)))
    return success();
  if (drawing.isTooLarge())
    return drawing.emitTooLarge();
  Index node = drawOp(frame, op);
  for (Value result : op->getResults())
    frame.sources[result] = {node};
  return success();
}

/// Runs the body of a loop once: each carried value comes from before the loop,
/// or from the iteration before.
LogicalResult StepWalk::runLoop(Frame &frame, LoopLikeOpInterface loop) {
  llvm::SaveAndRestore<size_t> deeper(depth, depth + 1);
  if (depth > limits::maxCallDepth)
    return loop.emitOpError() << "is in a chain of more than "
                              << limits::maxCallDepth << " calls and loops";
  std::optional<APInt> count = loop.getStaticTripCount();
  llvm::SaveAndRestore<Checked> times(frame.times);
  frame.times *= count ? count->getSExtValue() : 1;
  Block &body = loop.getLoopRegions().front()->front();
  auto arguments = loop.getRegionIterArgs();
  SmallVector<Source> carried;
  for (auto [argument, before] : llvm::zip(arguments, loop.getInits())) {
    carried.push_back(drawing.join());
    if (std::optional<Source> source = sourceOf(frame, before))
      drawing.addTo(carried.back(), *source);
    frame.sources[argument] = carried.back();
  }
  frame.loops.push_back(loop);
  LogicalResult done = runBlock(frame, body);
  frame.loops.pop_back();
  OperandRange yielded = body.getTerminator()->getOperands();
  for (auto [join, value, result] :
       llvm::zip(carried, yielded, loop->getResults()))
    if (std::optional<Source> source = sourceOf(frame, value)) {
      drawing.addTo(join, *source);
      frame.sources[result] = *source;
    }
  return done;
}

/// Runs all iterations of a loop, each layer on its stage.
LogicalResult StepWalk::runLayers(Frame &frame, LoopLikeOpInterface loop) {
  int64_t count = loop.getStaticTripCount()->getSExtValue();
  Block &body = loop.getLoopRegions().front()->front();
  auto bind = [&](auto values, auto to) {
    SmallVector<std::optional<Source>> sources = sourcesOf(frame, values);
    for (auto [target, source] : llvm::zip(to, sources))
      if (source)
        frame.sources[target] = *source;
  };
  bind(OperandRange(loop.getInits()), loop.getRegionIterArgs());
  bind(OperandRange(loop.getInits()), loop->getResults());
  for (int64_t i = 0; i < count; ++i) {
    if (failed(runBlock(frame, body)))
      return failure();
    OperandRange yielded = body.getTerminator()->getOperands();
    bind(yielded, loop->getResults());
    bind(yielded, loop.getRegionIterArgs());
  }
  return success();
}

LogicalResult StepWalk::runCall(Frame &frame, CallOpInterface call) {
  auto callee = dyn_cast_or_null<FunctionOpInterface>(
      call.resolveCallableInTable(&symbols));
  if (!callee || callee.isDeclaration())
    return call.emitOpError("calls a function that has no body");
  if (llvm::is_contained(stack, call->getParentOp()))
    enterLayer();
  FailureOr<Drawn *> drawn = draw(callee, call);
  if (failed(drawn))
    return failure();
  drawnOf(frame.function).calls[*drawn] += frame.times;
  for (auto [argument, value] :
       llvm::zip(callee.getArguments(), call.getArgOperands()))
    connect(frame, value, drawing.argument(argument, stage, (*drawn)->cluster));
  for (auto [result, source] : llvm::zip(call->getResults(), (*drawn)->results))
    if (source)
      frame.sources[result] = *source;
  return success();
}

FailureOr<Drawn *> StepWalk::draw(FunctionOpInterface function,
                                  CallOpInterface call) {
  if (active.contains(function))
    return call.emitOpError("is recursive: its graph has no end");
  if (functions.contains({function, stage}))
    return &drawnOf(function);
  llvm::SaveAndRestore<size_t> deeper(depth, depth + 1);
  if (depth > limits::maxCallDepth)
    return call.emitOpError() << "is in a chain of more than "
                              << limits::maxCallDepth << " calls and loops";
  Drawn &drawn = drawnOf(function);
  Frame frame;
  frame.function = function;
  Block &body = function.getFunctionBody().front();
  active.insert(function);
  for (BlockArgument argument : body.getArguments())
    drawing.argument(argument, stage, drawn.cluster);
  if (failed(runBlock(frame, body)))
    return failure();
  active.erase(function);
  drawn.results = sourcesOf(frame, body.getTerminator()->getOperands());
  finished.push_back(&drawn);
  return &drawn;
}

/// Checks that the stages divide the calls in the last loops of `function`, and
/// that these loops contain nothing else.
LogicalResult StepWalk::verifyLayers(Operation *function) {
  Checked layers = 0;
  for (LoopLikeOpInterface loop : stack) {
    Block &body = loop.getLoopRegions().front()->front();
    std::optional<APInt> count = loop.getStaticTripCount();
    auto calls = llvm::count_if(body.without_terminator(),
                                llvm::IsaPred<CallOpInterface>);
    if (!count || calls + 1 != std::distance(body.begin(), body.end()))
      return loop.emitOpError(
          "has layers on stages, and must have calls alone and a known number "
          "of iterations");
    layers += Checked(count->getSExtValue()) * calls;
  }
  if (layers == ranges.back().end)
    return success();
  InFlightDiagnostic diag = stages.emitOpError()
                            << "has the layers 0 to " << ranges.back().end - 1;
  diag.attachNote(function->getLoc())
      << "this function has " << layers.str() << " layers";
  return diag;
}

LogicalResult StepWalk::runEntry(FunctionOpInterface entry, Section section) {
  this->section = section;
  layer = 0;
  stage = 0;
  stack.clear();
  if (!ranges.empty()) {
    stack = findStack(entry);
    if (failed(verifyLayers(entry)))
      return failure();
    if (section == Section::backward)
      stage = ranges.size() - 1;
  }
  active.insert(entry);
  Frame frame;
  frame.function = entry;
  Block &body = entry.getFunctionBody().front();
  for (Operation &op : body.without_terminator()) {
    if (failed(runOp(frame, &op)))
      return failure();
    if (!stack.empty() && &op == stack.back().getOperation())
      stage = section == Section::backward ? 0 : ranges.size() - 1;
  }
  active.erase(entry);
  for (OpOperand &use : body.getTerminator()->getOpOperands())
    connect(frame, use.get(),
            drawing.result(use, stage, drawnOf(entry).cluster));
  for (auto &[key, drawn] : functions)
    if (key.first == entry.getOperation()) {
      drawn->runs = 1;
      finished.push_back(drawn.get());
    }
  return success();
}

void StepWalk::countRuns() {
  for (Drawn *drawn : llvm::reverse(finished)) {
    for (auto [callee, times] : drawn->calls)
      callee->runs += drawn->runs * times;
    drawing.setRuns(drawn->cluster, drawn->runs.int64());
  }
}

FailureOr<ModuleGraph> StepWalk::run() {
  FunctionOpInterface entry;
  for (auto function : module.getOps<FunctionOpInterface>()) {
    if (!function.isDeclaration() && !function.getFunctionBody().hasOneBlock())
      return function.emitOpError("has several blocks, expected one");
    if (!function.isPublic() || function.isDeclaration())
      continue;
    if (entry)
      return function.emitOpError()
             << "is a second public function beside @" << entry.getName();
    entry = function;
  }
  if (!entry)
    return module.emitError("the module has no public function to start from");
  if (failed(runEntry(entry, Section::forward)))
    return failure();
  for (auto op : module.getOps<StepSectionsOpInterface>())
    for (auto [function, section] : op.getSections())
      if (failed(runEntry(function, section)))
        return failure();
  countRuns();
  return drawing.finish();
}

FailureOr<ModuleGraph> autopar::graph::buildGraph(ModuleOp module) {
  if (!module.getOps<ModuleOp>().empty())
    return module.emitError(
        "is a deployment of several modules: a graph is one of one module");
  auto stages = module.getOps<parallel::StagesOp>();
  return StepWalk(module,
                  stages.empty() ? parallel::StagesOp() : *stages.begin())
      .run();
}
