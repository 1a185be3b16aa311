//===- CostProgramAnalysis.cpp --------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Analysis/CostProgramAnalysis.h"

#include "Borders.h"
#include "CallCounts.h"
#include "DraftLayers.h"
#include "ExpertLimits.h"
#include "LossMemory.h"
#include "ModelFacts.h"
#include "OpUses.h"
#include "ProductFormat.h"
#include "SectionKinds.h"
#include "SharedCaches.h"
#include "StackReader.h"
#include "autopar/Analysis/StageBorders.h"
#include "autopar/Dialect/Training/Training.h"
#include "autopar/Interfaces/WorkloadBuilder.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace autopar;
using namespace autopar::analysis;
using namespace autopar::placement;
using namespace autopar::program;
using namespace autopar::schedule;
using namespace mlir;

namespace {

/// Extracts the cost program: walks through a module in execution order, each
/// function at its first call, and lets every op add its records. `clock`
/// counts ops and dates the lifetimes of temporaries.
class Extractor {
public:
  Extractor(ModuleOp module, CostProgram &program, ProgramOps &ops,
            std::shared_ptr<ExpertPlacer> loads = nullptr)
      : module(module), program(program), ops(ops), builder(program),
        experts(std::move(loads)), borders(program) {
    builder.setNeutralAxes(findNeutralAxes(module));
  }

  LogicalResult run() {
    FunctionOpInterface entry;
    for (auto function : module.getOps<FunctionOpInterface>())
      if (function.isPublic() && !function.isDeclaration()) {
        if (entry)
          return function.emitOpError()
                 << "is a second public function beside @" << entry.getName()
                 << ": make all but the step's private";
        entry = function;
      }
    if (!entry)
      return module.emitError(
          "the module has no public function to start from");
    for (auto training : module.getOps<training::IterationOp>()) {
      builder.setTrains(true);
      if (std::optional<Type> products = training.getProducts())
        this->products.emplace(builder, *toElementType(*products));
    }
    program.model = nameOfModel(module);
    if (failed(experts.read(module, builder)) ||
        failed(readExpertCapacity(module, experts, builder, program)) ||
        failed(run(entry)) || failed(runSections(entry)))
      return failure();
    eraseHeld();
    program.placement = experts.take();
    program.positions = positionsOf(module);
    program.castFrom = castOf(module);
    return success();
  }

  /// Extracts the cost of one run of `entry`.
  LogicalResult run(FunctionOpInterface entry) {
    builder.setTokenAxes(findTokenAxes(module));
    stack = findStack(entry);
    counts.emplace();
    if (failed(counts->count(entry)) || failed(extractFunction(entry)))
      return failure();
    return stack.empty() ? success()
                         : StackReader(builder, extracted, launchesOf, entry,
                                       program.stack)
                               .read(stack, afterStack);
  }

  /// Marks the tensors outside of layers that `other` has extracted, so that
  /// they are not added again.
  void knowTensorsOf(const Extractor &other) {
    for (const auto &[key, tensor] : other.tensors)
      if (!key.first)
        tensors.try_emplace(key, tensor);
  }

private:
  /// Extracts the later sections of a step (backward and update), which have
  /// the inputs of `entry`.
  LogicalResult runSections(FunctionOpInterface entry) {
    SectionKinds kinds(program, extracted, entry);
    for (auto op : module.getOps<StepSectionsOpInterface>())
      for (auto [function, kind] : op.getSections()) {
        section = kind;
        stack = findStack(function);
        counts.emplace();
        for (auto [own, input] :
             llvm::zip(function.getArguments(), entry.getArguments()))
          bind(own, input);
        if (failed(counts->count(function)) ||
            failed(extractFunction(function)))
          return failure();
        kinds.addEnds(section, extracted[function],
                      stack.empty() ? extracted[function] : afterStack);
      }
    kinds.finish();
    return success();
  }

  /// Adds the records of a function, whose arguments must be bound to values.
  LogicalResult extractFunction(FunctionOpInterface function) {
    uint32_t caller = layer;
    extracted[function] = program.layers.size();
    begin(function.getName().str(), (*counts)[function]);
    auto callerPlaced = builder.setPlaced(experts.setKind(function, layer));
    // Only the model's own arguments are inputs; those of a called function are
    // bound to the caller's operands.
    if (layer == 0)
      for (Value argument : function.getArguments()) {
        if (failed(verifyArgument(function, argument)))
          return failure();
        define(argument);
      }
    bool callerInStack = std::exchange(inStack, false);
    Launches launches;
    Block &body = function.getFunctionBody().front();
    // A backward decides by itself what runs beside what.
    auto callerBeside =
        std::exchange(beside, builder.trains() ? llvm::DenseSet<Operation *>()
                                               : findOpsBesideExperts(body));
    LogicalResult result = extractBlock(body, launches);
    beside = std::move(callerBeside);
    program.layers[layer].end = clock;
    layer = caller;
    inStack = callerInStack;
    builder.setPlaced(callerPlaced);
    launchesOf[function] = launches;
    auto &numbers = argumentNumbers[function];
    for (Value argument : function.getArguments())
      numbers.push_back(builder.findNumber(argument));
    return result;
  }

  /// Begins a layer kind, to which the records added from now on belong.
  void begin(std::string name, int64_t count) {
    layer = program.layers.size();
    program.layers.push_back(
        {std::move(name), count, clock + 1, clock, section});
  }

  /// Verifies the type of a function's argument: the verifier of functions does
  /// not know encodings.
  static LogicalResult verifyArgument(FunctionOpInterface function,
                                      Value argument) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    bool known = type && toElementType(type.getElementType());
    for (int64_t i = 0; known && i < type.getRank(); ++i)
      known = !type.isDynamicDim(i) || TensorView(type).isSymbolic(i);
    if (known)
      return success();
    return function.emitOpError()
           << "has an argument of type " << argument.getType()
           << ", of which no size is known";
  }

  LogicalResult extractBlock(Block &block, Launches &launches) {
    for (Operation &op : block) {
      Launches own;
      if (failed(extract(&op, own)))
        return failure();
      append(&op, launches, own);
    }
    return success();
  }

  /// Appends the launches `own` of `op` to those before it in the block.
  void append(Operation *op, Launches &launches, Launches &own) {
    // Only forwards are continued on the next pipeline stage: the launches of
    // other sections end with a layer.
    if (section != Section::forward &&
        (inStack || isa<LoopLikeOpInterface>(op)))
      return;
    bool isStack = llvm::is_contained(stack, op);
    own.endsInStack = isStack || inStack;
    if (isStack && op == stack.front())
      program.stack.tailBefore = launches.ends.tail;
    bool endsStack = !inStack && !isStack && launches.endsInStack;
    if (own.isEmpty)
      return;
    if (endsStack)
      program.stack.headAfter = own.ends.head;
    if (std::optional<int64_t> count = countOf(op))
      borders.append(launches, own, *count, siteOf(isStack || endsStack));
  }

  /// Returns the layer kind that contains a border, for `Border::layer`;
  /// nothing for a border at the stack.
  std::optional<uint32_t> siteOf(bool atStack) const {
    return atStack || inStack ? std::nullopt : std::optional(layer);
  }

  /// Returns how often a step runs `op` of the current function; nothing if
  /// that is not known or overflows.
  std::optional<int64_t> countOf(Operation *op) const {
    std::optional<int64_t> trips = tripCountAround(op);
    int64_t count;
    if (!trips || llvm::MulOverflow(*trips, program.layers[layer].count, count))
      return std::nullopt;
    return count;
  }

  LogicalResult extract(Operation *op, Launches &launches) {
    ++clock;
    for (Value operand : op->getOperands())
      use(operand);
    if (auto call = dyn_cast<CallOpInterface>(op))
      return extractCall(call, launches);
    if (auto loop = dyn_cast<LoopLikeOpInterface>(op))
      return extractLoop(loop, launches);
    if (op->hasTrait<OpTrait::IsTerminator>())
      return success();
    auto workload = dyn_cast<WorkloadOpInterface>(op);
    if (!workload)
      return op->emitOpError("has no cost: it does not implement "
                             "WorkloadOpInterface");
    std::optional<int64_t> count = countOf(op);
    if (!count)
      return op->emitOpError("runs more often than 63 bits count");
    builder.enter(layer, *count);
    FailureOr<bool> isKnown = bindNamesake(workload, *count);
    if (failed(isKnown) || *isKnown)
      return failure(failed(isKnown));
    size_t sent = program.collectives.size(), made = program.kernels.size();
    bool casts = products && section != Section::optimizer;
    if (casts)
      products->quantizeOperands(op);
    workload.buildWorkload(builder);
    for (size_t i = made; i < program.kernels.size(); ++i)
      program.kernels[i].besideExperts = beside.contains(op);
    if (isMadeAlone(op, section))
      for (size_t i = made; i < program.kernels.size(); ++i)
        program.kernels[i].routed = false;
    for (; casts && made < program.kernels.size(); ++made)
      products->multiply(op, program.kernels[made]);
    if (casts)
      products->quantizeResults(op);
    launches = builder.takeLaunched();
    for (; sent < program.collectives.size(); ++sent) {
      program.collectives[sent].ofWeights = isOfWeights(op, section);
      program.collectives[sent].ofInputs = isOfInputs(op, section);
      if (casts)
        products->send(op, program.collectives[sent]);
    }
    holdScores(op);
    hold(op);
    ops.collectives.resize(program.collectives.size(), op);
    ops.residents.resize(program.residents.size(), op);
    for (Value result : op->getResults())
      if (builder.resolve(result) != result)
        keep(op, result);
      else if (!builder.isResident(result) && !replacesScores(op))
        define(result);
    return failure(builder.refused());
  }

  /// Adds copies of scores that are not values of the IR: for a loss in chunks,
  /// saved values exist for one chunk only; an eager loss has temporaries of
  /// `op` itself.
  void holdScores(Operation *op) {
    if (isa<training::SaveOp>(op))
      program.saved.back().chunks = lossChunksOf(op->getOperand(0));
    for (int64_t copy = 0, all = copiesInLoss(op); copy < all; ++copy)
      define(op->getResult(0));
  }

  /// Excludes values that need no memory of their own: saved values, new
  /// elements of weights, and sums that matmuls accumulate.
  void hold(Operation *op) {
    bool isAdded = isa<training::AccumulateOp>(op) &&
                   !isa_and_present<parallel::ParallelDialect>(
                       op->getOperand(0).getDefiningOp()->getDialect());
    if (isAdded || isa<training::SaveOp, training::AssignOp>(op))
      held.push_back(holderOf(op->getOperand(0)));
  }

  void eraseHeld() {
    llvm::DenseSet<size_t> indices;
    for (Value value : held) {
      auto range = live.find(value);
      for (size_t i = range == live.end() ? 0 : range->second.first;
           range != live.end() && i < range->second.second; ++i)
        indices.insert(i);
    }
    size_t index = 0;
    llvm::erase_if(program.activations, [&](const Activation &) {
      return indices.contains(index++);
    });
  }

  /// Whether `op`, which a step runs `count` times, is a tensor that was
  /// extracted already: an equal one of its name, in the same layer or outside
  /// of layers; of caches, in any layer.
  FailureOr<bool> bindNamesake(WorkloadOpInterface op, int64_t count) {
    if (auto cache = dyn_cast<transformer::KVCacheOp>(op.getOperation()))
      return caches.bind(cache, count, builder);
    StringAttr name = op.getTensorName();
    if (!name)
      return false;
    Operation *loop = op->getParentOfType<LoopLikeOpInterface>();
    auto &known = tensors[{loop ? loop : naming, name}];
    if (!known.empty() && failed(op.verifyNamesake(known.front().op)))
      return failure();
    constexpr auto asTensor = static_cast<OperationEquivalence::Flags>(
        OperationEquivalence::IgnoreLocations |
        OperationEquivalence::IgnoreDiscardableAttrs);
    for (const Tensor &other : known)
      if (other.count == count &&
          OperationEquivalence::isEquivalentTo(op, other.op, asTensor)) {
        builder.bind(op->getResult(0), other.op->getResult(0));
        return true;
      }
    known.push_back({op, count});
    return false;
  }

  /// Binds `result` to the operand that it equals, for an op that does nothing,
  /// such as a collective among single devices.
  void keep(Operation *op, Value result) {
    for (Value operand : op->getOperands())
      if (builder.resolve(operand) == builder.resolve(result)) {
        holders[result] = holderOf(operand);
        return;
      }
  }

  LogicalResult extractCall(CallOpInterface call, Launches &launches) {
    FunctionOpInterface callee = counts->callee(call);
    builder.endRun();
    for (auto [argument, operand] :
         llvm::zip_equal(callee.getArguments(), call.getArgOperands()))
      bind(argument, operand);
    bool isFirst = !extracted.contains(callee);
    if (isFirst && failed(extractCallee(call, callee)))
      return failure();
    builder.endRun();
    launches = launchesOf.lookup(callee);
    if (!isFirst)
      launches.values =
          compose(std::move(launches.values), numbersAt(call, callee));
    Operation *end = callee.getFunctionBody().front().getTerminator();
    for (auto [result, value] :
         llvm::zip_equal(call->getResults(), end->getOperands()))
      if (isFirst || isa<BlockArgument>(value))
        bind(result, value);
      else
        bindAgain(result, value);
    return success();
  }

  /// A call in a loop is a layer, in which tensor names begin anew.
  LogicalResult extractCallee(CallOpInterface call,
                              FunctionOpInterface callee) {
    bool isLayer = call->getParentOfType<LoopLikeOpInterface>() != nullptr;
    // Functions of a backward or an update use the tensor names of their
    // forward.
    llvm::SaveAndRestore inside(
        naming, isLayer ? findWhole(callee).getOperation() : naming);
    return extractFunction(callee);
  }

  /// Makes `alias` another name of `value`, in the same memory.
  void bind(Value alias, Value value) {
    builder.bind(alias, value);
    holders[alias] = holderOf(value);
  }

  /// Binds `result` to `value` of a function that is called once more: it is a
  /// new temporary, which does not extend the lifetime of the earlier one.
  void bindAgain(Value result, Value value) {
    auto former = live.find(holderOf(value));
    if (former == live.end())
      return bind(result, value);
    builder.bind(result, value);
    auto [begin, end] = former->second;
    size_t first = program.activations.size();
    for (size_t i = begin; i < end; ++i) {
      Activation again = program.activations[i];
      again.begin = again.end = clock;
      program.activations.push_back(std::move(again));
    }
    holders[result] = result;
    live[result] = {first, program.activations.size()};
  }

  Value holderOf(Value value) const {
    auto it = holders.find(value);
    return it == holders.end() ? value : it->second;
  }

  /// Returns the mapping of value numbers for a further call of `callee`: from
  /// those of its arguments when it was extracted to those of this call's
  /// operands.
  ValueNumbers numbersAt(CallOpInterface call, Operation *callee) {
    ValueNumbers numbers;
    for (auto [number, operand] :
         llvm::zip(argumentNumbers[callee], call.getArgOperands()))
      if (number != 0)
        numbers.push_back({number, builder.findNumber(operand)});
    return numbers;
  }

  LogicalResult extractLoop(LoopLikeOpInterface loop, Launches &launches) {
    builder.endRun();
    bool outer = inStack;
    inStack |= llvm::is_contained(stack, loop);
    for (auto [argument, init] :
         llvm::zip_equal(loop.getRegionIterArgs(), loop.getInits()))
      bind(argument, init);
    for (Region *region : loop.getLoopRegions())
      if (failed(extractBlock(region->front(), launches)))
        return failure();
    addIterations(loop, launches);
    inStack = outer;
    builder.endRun();
    for (auto [result, value] :
         llvm::zip_equal(loop->getResults(), loop.getYieldedValues()))
      bind(result, value);
    if (stack.empty() || loop != stack.back())
      return success();
    // The ops after the layers get a layer kind of their own, because in a
    // pipeline another device may run them.
    program.layers[layer].end = clock;
    begin(program.layers[layer].name, program.layers[layer].count);
    afterStack = layer;
    return success();
  }

  /// Adds the borders between iterations of `loop`, whose body launches
  /// `launches`, and sets `launches` to those of the whole loop.
  void addIterations(LoopLikeOpInterface loop, Launches &launches) {
    std::optional<APInt> trips = loop.getStaticTripCount();
    std::optional<int64_t> count = countOf(loop);
    int64_t again;
    if (section != Section::forward || !trips || trips->isZero() || !count ||
        llvm::MulOverflow(*count, trips->getSExtValue() - 1, again)) {
      launches = Launches();
      return;
    }
    ValueNumbers numbers;
    for (auto [init, yielded] :
         llvm::zip_equal(loop.getInits(), loop.getYieldedValues()))
      if (uint32_t number = builder.findNumber(init))
        numbers.push_back({number, builder.findNumber(yielded)});
    Launches next = launches;
    next.values = compose(std::move(next.values), numbers);
    borders.add(launches.ends, next, again, siteOf(false));
  }

  void define(Value value) {
    if (!tensorOf(value.getType()))
      return;
    size_t first = program.activations.size();
    for (Activation &activation : builder.activations(value)) {
      activation.begin = activation.end = clock;
      activation.chunks = lossChunksOf(value);
      program.activations.push_back(std::move(activation));
    }
    live[value] = {first, program.activations.size()};
  }

  void use(Value value) {
    auto it = live.find(holderOf(value));
    if (it == live.end())
      return;
    for (size_t i = it->second.first; i < it->second.second; ++i)
      program.activations[i].end = clock;
  }

  ModuleOp module;
  CostProgram &program;
  ProgramOps &ops;
  WorkloadBuilder builder;
  /// How often each function runs in the current section.
  std::optional<CallCounts> counts;
  Section section = Section::forward;
  /// The number format in which matmuls multiply, if the training states one.
  std::optional<ProductFormat> products;
  /// Values that need no memory of their own.
  SmallVector<Value> held;
  ExpertTables experts;
  llvm::DenseMap<Operation *, uint32_t> extracted;
  /// For each value, the range of its activations: index of the first, and
  /// index after the last.
  llvm::DenseMap<Value, std::pair<size_t, size_t>> live;
  /// For each alias, the value whose memory it shares.
  llvm::DenseMap<Value, Value> holders;
  uint32_t layer = 0, clock = 0;
  /// An op that names a tensor, and how often a step runs the op.
  struct Tensor {
    Operation *op;
    int64_t count;
  };
  /// Extracted tensors, by the function in which names begin, and by name.
  llvm::DenseMap<std::pair<Operation *, StringAttr>, SmallVector<Tensor, 1>>
      tensors;
  /// The function of the current layer, in which tensor names begin; null
  /// outside of layers.
  Operation *naming = nullptr;
  SmallVector<LoopLikeOpInterface> stack;
  /// Whether the current op lies directly in one of the loops of the stack.
  bool inStack = false;
  /// Of the current function: `Kernel::besideExperts`.
  llvm::DenseSet<Operation *> beside;
  /// The layer kind of the ops after the stack.
  uint32_t afterStack = 0;
  Borders borders;
  SharedCaches caches;
  /// The launches of one run of a function; the numbers that its arguments had
  /// when it was extracted.
  llvm::DenseMap<Operation *, Launches> launchesOf;
  llvm::DenseMap<Operation *, SmallVector<uint32_t>> argumentNumbers;
};

} // namespace

/// Returns the index of the layer kind `name`; adds one that no step runs if
/// there is none.
static uint32_t findLayer(CostProgram &program, const std::string &name) {
  auto it = llvm::find_if(
      program.layers, [&](const LayerKind &kind) { return kind.name == name; });
  if (it == program.layers.end())
    it = program.layers.insert(it, {name, 0});
  return it - program.layers.begin();
}

/// Adds the weights of functions that a step does not run. No device holds
/// them, with the exception of layers that predict further tokens: runtimes
/// that draft with these hold them as the module splits them, with their KV
/// caches, in a layer kind with the function's name that no step runs. Tensors
/// of `model` exist already.
static LogicalResult addStored(ModuleOp module, CostProgram &program,
                               Extractor &model) {
  for (FunctionOpInterface function : findStoredFunctions(module)) {
    bool drafts = hasDrafts(module) && predictsTokens(function);
    CostProgram unused;
    // The records use the symbols and axes of the program to which they are
    // added.
    unused.symbols = program.symbols;
    unused.axes = program.axes;
    ProgramOps unusedOps;
    Extractor stored(module, unused, unusedOps);
    stored.knowTensorsOf(model);
    if (failed(stored.run(function)))
      return failure();
    model.knowTensorsOf(stored);
    if (drafts) {
      program.symbols = unused.symbols;
      program.axes = unused.axes;
    }
    for (Resident &resident : unused.residents) {
      bool isWeight = resident.kind == Resident::Kind::weight;
      if (!isWeight && !drafts)
        continue;
      resident.stored = isWeight && !drafts;
      resident.user.reset();
      resident.readers.clear();
      resident.layer =
          findLayer(program, drafts ? function.getName().str()
                                    : unused.layers[resident.layer].name);
      for (Dim &dim : resident.shape)
        if (!drafts)
          dim = {dim.extent, {}, SplitRule::plain, 1};
      program.residents.push_back(std::move(resident));
    }
  }
  return success();
}

CostProgramAnalysis::CostProgramAnalysis(Operation *op,
                                         std::shared_ptr<ExpertPlacer> loads) {
  auto module = cast<ModuleOp>(op);
  Extractor model(module, program, ops, std::move(loads));
  valid =
      succeeded(model.run()) && succeeded(addStored(module, program, model));
}
