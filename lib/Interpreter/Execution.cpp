//===- Execution.cpp ------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Interpreter/Execution.h"

#include "Placement.h"
#include "RoutedRows.h"
#include "StagePart.h"

#include "autopar/Dialect/Parallel/Parallel.h"
#include "autopar/Dialect/Training/Training.h"
#include "autopar/Interfaces/Interfaces.h"
#include "autopar/Schedule/Schedule.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/Support/xxhash.h"

#include "autopar/Interpreter/Execution.cpp.inc"

#include <cmath>

using namespace autopar;
using namespace autopar::interpreter;
using namespace autopar::program;
using namespace autopar::schedule;
using namespace mlir;

double autopar::interpreter::randomNumber(StringRef name, int64_t index) {
  uint64_t bits = llvm::xxh3_64bits(name) + 0x9e3779b97f4a7c15ull * (index + 1);
  // Mixes the bits by SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9ull;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebull;
  bits ^= bits >> 31;
  return static_cast<double>(bits >> 11) * 0x1p-52 - 1;
}

//===----------------------------------------------------------------------===//
// Numbering of devices
//===----------------------------------------------------------------------===//

const LocalTensor &Device::operator()(Value value) const {
  return of(id, value);
}

const LocalTensor &Device::of(int64_t device, Value value) const {
  return run.valueOf(value)[device];
}

const DeviceGrid &Device::grid() const { return run.getGrid(); }

std::vector<int64_t> Device::positions(Value value, unsigned dim) const {
  std::vector<int64_t> all = indices(value, dim);
  const Workload &step = grid().workload();
  bool isOfStep = TensorView(value).dim(dim).extent.is("query");
  for (int64_t &position : all)
    position += isOfStep ? step.context - step.query : 0;
  return all;
}

//===----------------------------------------------------------------------===//
// What all devices have together
//===----------------------------------------------------------------------===//

/// Whether two copies of a number agree; replicas may have summed in another
/// order.
static bool agree(double a, double b) {
  return a == b || std::abs(a - b) <= 1e-9 * (1 + std::abs(a)) ||
         (std::isnan(a) && std::isnan(b));
}

/// Returns where the elements of a device's part are in the whole tensor; in a
/// set, a token has at most `most` rows.
static Placement placementOf(const TensorView &type, const DeviceGrid &grid,
                             int64_t device, const LocalTensor &local,
                             int64_t most) {
  if (!type.isSet())
    return {type, grid, device};
  return {type, grid, device, RowHomes::numbersOf(local, most)};
}

/// The largest number of rows (one per chosen expert) that any token has in a
/// set of routed tokens.
static int64_t rowsOfToken(const DeviceTensors &tensors) {
  int64_t most = 1;
  for (const LocalTensor &local : tensors)
    for (const RoutedRow &row : local.rows)
      most = std::max<int64_t>(most, row.slot + 1);
  return most;
}

std::optional<LocalTensor>
autopar::interpreter::gatherAll(const TensorView &type,
                                const DeviceTensors &tensors,
                                const DeviceGrid &grid) {
  int64_t most = rowsOfToken(tensors);
  LocalTensor whole(Placement(type, grid, 0).wholeShape());
  std::vector<char> known(whole.data.size());
  for (int64_t device : grid.active()) {
    if (grid.placeOf(device, type.partialAxes()) != 0)
      continue;
    std::vector<int64_t> addends = grid.groupOf(device, type.partialAxes());
    bool same = true;
    Placement place = placementOf(type, grid, device, tensors[device], most);
    place.forEach([&](int64_t local, int64_t at) {
      if (at < 0)
        return;
      double sum = 0;
      for (int64_t addend : addends)
        sum += tensors[addend].data[local];
      same &= !known[at] || agree(whole.data[at], sum);
      whole.data[at] = sum;
      known[at] = true;
    });
    if (!same)
      return std::nullopt;
  }
  return whole;
}

//===----------------------------------------------------------------------===//
// KV caches and states
//===----------------------------------------------------------------------===//

/// Returns the op of the KV cache or state behind a value; null if there is
/// none. A ring reads the cache in place; other collectives copy it.
static Operation *residentOf(Value value) {
  Operation *op = value.getDefiningOp();
  while (auto ring = dyn_cast_if_present<parallel::RingOp>(op))
    op = ring.getInput().getDefiningOp();
  return isa_and_present<transformer::KVCacheOp, transformer::StateOp>(op)
             ? op
             : nullptr;
}

/// Returns the number of a resident among the KV caches and states of its
/// function.
int64_t Execution::residentNumber(Operation *resident) {
  auto [known, isNew] = residentNumbers.try_emplace(resident, 0);
  if (!isNew)
    return known->second;
  int64_t number = 0;
  resident->getParentOfType<func::FuncOp>().walk<WalkOrder::PreOrder>(
      [&](Operation *op) {
        if (isa<transformer::KVCacheOp, transformer::StateOp>(op))
          residentNumbers[op] = number++;
      });
  return residentNumbers[resident];
}

/// Returns the key of a resident: "model.layers.3/12" for the layer and the
/// resident's number, or the name of a cache that several layers share.
std::string Execution::residentKey(Value value) {
  Operation *op = residentOf(value);
  if (auto cache = dyn_cast_if_present<transformer::KVCacheOp>(op);
      cache && cache.getName())
    return cache.getName()->str();
  return op ? layer + "/" + std::to_string(residentNumber(op)) : "";
}

//===----------------------------------------------------------------------===//
// Running ops
//===----------------------------------------------------------------------===//

Execution::Values Execution::valuesOf(ValueRange range) const {
  Values all;
  for (Value value : range) {
    auto held = values.find(value);
    all.push_back(held == values.end() ? Held() : held->second);
  }
  return all;
}

void Execution::setAll(ValueRange range, Values all) {
  for (auto [value, held] : llvm::zip(range, all))
    if (held.tensors.empty())
      values.erase(value);
    else
      values[value] = std::move(held);
}

/// Checks that the tensors have the shapes of the type, and that replicas
/// agree. Returns the joined tensor; nothing for a KV cache or a state.
FailureOr<std::optional<LocalTensor>> Execution::check(OpResult result,
                                                       DeviceTensors &tensors) {
  Operation *op = result.getOwner();
  TensorView type(result);
  bool goesRound = llvm::any_of(llvm::seq(type.rank()), [&](unsigned dim) {
    return type.dim(dim).rule == SplitRule::ring;
  });
  if (isa<transformer::KVCacheOp, transformer::StateOp>(op) || goesRound)
    return std::optional<LocalTensor>();
  if (grid->expertSlots().lack(type.getType()))
    return op->emitError("is of a layer that parallel.expert_placement has no "
                         "slots of");
  if (type.isSet() && failed(RowHomes(type, *grid).verify(op, tensors)))
    return failure();
  int64_t most = rowsOfToken(tensors);
  for (int64_t device : grid->active()) {
    std::vector<int64_t> shape =
        placementOf(type, *grid, device, tensors[device], most).shape();
    if (tensors[device].shape != shape)
      return op->emitError("device ")
             << device << " has a result of ["
             << llvm::ArrayRef<int64_t>(tensors[device].shape)
             << "], its type says [" << llvm::ArrayRef<int64_t>(shape) << "]";
  }
  std::optional<LocalTensor> whole = gatherAll(type, tensors, *grid);
  if (!whole)
    return op->emitError("devices that should have the same result do not");
  if (llvm::any_of(whole->data, [](double x) { return std::isnan(x); }))
    return op->emitError("has a result that is not a number: padding is used");
  return whole;
}

void Execution::setValue(OpResult result, DeviceTensors tensors,
                         std::optional<LocalTensor> whole) {
  if (traced && whole)
    (isUpdate ? updateEntries : entryParts[microbatch])
        .push_back({result.getOwner(), layer, std::move(*whole),
                    result.getResultNumber()});
  values[result] = {std::move(tensors)};
}

/// Whether the op moves a KV cache or a state. A ring leaves it in place; other
/// collectives move it.
static bool movesResident(Operation *op) {
  return isa<parallel::ParallelDialect>(op->getDialect()) &&
         !isa<parallel::RingOp>(op) &&
         llvm::any_of(op->getOperands(), [](Value operand) {
           return residentOf(operand) != nullptr;
         });
}

Executor::~Executor() = default;

LogicalResult Executor::prepare(ExecutableOpInterface op, Device &device) {
  return op.prepare(device);
}

FailureOr<LocalTensors> Executor::execute(ExecutableOpInterface op,
                                          Device &device) {
  return op.execute(device);
}

/// Executes an op on all devices, and returns its results.
FailureOr<std::vector<DeviceTensors>> Execution::execute(Operation *op) {
  auto executable = dyn_cast<ExecutableOpInterface>(op);
  if (!executable)
    return op->emitError("cannot be executed yet");
  if (movesResident(op))
    return op->emitError("moves a cache or a state: what is updated behind it "
                         "is a copy");
  std::vector<DeviceTensors> results(op->getNumResults(),
                                     DeviceTensors(grid->size()));
  for (int64_t id : grid->active()) {
    Device device(*this, id);
    if (failed(executor.prepare(executable, device)))
      return failure();
  }
  for (int64_t id : grid->active()) {
    Device device(*this, id);
    FailureOr<LocalTensors> locals = executor.execute(executable, device);
    if (failed(locals))
      return failure();
    for (auto [tensors, local] : llvm::zip_equal(results, *locals))
      tensors[id] = std::move(local);
  }
  return results;
}

LogicalResult Execution::compute(Operation *op) {
  if (table && isUpdate) {
    FailureOr<bool> isHeld = enterHolders(op);
    if (failed(isHeld) || !*isHeld)
      return failure(failed(isHeld));
  }
  if (isa<transformer::WeightOp>(op))
    return runWeight(op);
  FailureOr<std::vector<DeviceTensors>> results = execute(op);
  if (failed(results))
    return failure();
  for (auto [result, tensors] : llvm::zip_equal(op->getResults(), *results)) {
    FailureOr<std::optional<LocalTensor>> whole = check(result, tensors);
    if (failed(whole))
      return failure();
    setValue(result, std::move(tensors), std::move(*whole));
  }
  return success();
}

void Execution::enterLayer(std::optional<int64_t> number) {
  layerNumber = number;
  grid->expertSlots().enter(number);
}

LogicalResult Execution::runCall(Operation *op) {
  auto call = cast<func::CallOp>(op);
  auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
      op, call.getCalleeAttr());
  if (!callee || callee.isExternal())
    return op->emitError("calls a function without a body");
  std::string around = layer;
  std::optional<int64_t> aroundNumber = layerNumber;
  if (nextLayer) {
    int64_t number = std::exchange(*nextLayer, *nextLayer + layerStep);
    enterLayer(number);
    layer = prefix + "." + std::to_string(number);
  }
  if (part)
    for (auto [argument, operand] :
         llvm::zip(callee.getArguments(), op->getOperands()))
      part->passed[argument] = operand;
  // Layers do not nest: a layer called inside another one has no number of its
  // own.
  std::optional<int64_t> counter = std::exchange(nextLayer, std::nullopt);
  FailureOr<Values> results =
      runBlock(callee.getBody().front(), valuesOf(op->getOperands()));
  nextLayer = counter;
  layer = around;
  enterLayer(aroundNumber);
  if (failed(results))
    return failure();
  setAll(op->getResults(), std::move(*results));
  return success();
}

/// Returns the number of layers that a loop runs.
static int64_t layersIn(transformer::RepeatOp repeat) {
  int64_t layers = 0;
  for (Operation &op : repeat.getBody().front())
    if (auto inner = dyn_cast<transformer::RepeatOp>(op))
      layers += layersIn(inner);
    else if (isa<func::CallOp>(op))
      ++layers;
  return layers * static_cast<int64_t>(repeat.getCount());
}

LogicalResult Execution::runRepeat(Operation *op) {
  auto repeat = cast<transformer::RepeatOp>(op);
  bool counts = repeat.getPrefix().has_value();
  if (counts) {
    prefix = repeat.getPrefix()->str();
    layerStep = repeat.getReversed() ? -1 : 1;
    nextLayer =
        repeat.getFirst() + (repeat.getReversed() ? layersIn(repeat) - 1 : 0);
  }
  if (part && !part->isWithin && failed(makeCarried(repeat.getInitArgs())))
    return failure();
  Values carried = valuesOf(repeat.getInitArgs());
  auto count = static_cast<int64_t>(repeat.getCount());
  for (int64_t i = 0; i < count; ++i) {
    bool ends = part && i + 1 == count;
    if (ends)
      part->ending.push_back(op);
    FailureOr<Values> next =
        runBlock(repeat.getBody().front(), std::move(carried));
    if (failed(next))
      return failure();
    carried = std::move(*next);
    if (ends)
      part->ending.pop_back();
  }
  if (counts)
    nextLayer.reset();
  setAll(op->getResults(), std::move(carried));
  return success();
}

LogicalResult Execution::runOp(Operation *op) {
  if (part && !part->isWithin)
    return runPlaced(op);
  if (part && failed(demand(op)))
    return failure();
  if (isa<func::CallOp>(op))
    return runCall(op);
  return isa<transformer::RepeatOp>(op) ? runRepeat(op) : compute(op);
}

FailureOr<Execution::Values> Execution::runBlock(Block &block,
                                                 Values arguments) {
  setAll(block.getArguments(), std::move(arguments));
  for (Operation &op : block.without_terminator())
    if (failed(runOp(&op)))
      return failure();
  Operation *end = block.getTerminator();
  if (part && part->isWithin && failed(demand(end)))
    return failure();
  return valuesOf(end->getOperands());
}

//===----------------------------------------------------------------------===//
// Running steps and iterations
//===----------------------------------------------------------------------===//

static func::FuncOp entryOf(ModuleOp module) {
  func::FuncOp entry;
  for (auto function : module.getOps<func::FuncOp>())
    if (function.isPublic() && !function.isExternal())
      entry = function;
  return entry;
}

/// Emits an error for experts with a capacity, because the dropped tokens
/// depend on the number of ranks.
static LogicalResult verifyKeepsTokens(ModuleOp module) {
  for (auto training : module.getOps<training::IterationOp>())
    if (training.getCapacity())
      return training.emitOpError("drops tokens over the capacity of experts: "
                                  "that cannot be executed yet");
  return success();
}

/// Finds the function to execute and the stages, and divides the batch into
/// microbatches.
LogicalResult Execution::begin(const Workload &workload) {
  if (failed(verifyKeepsTokens(module)))
    return failure();
  if (!function) {
    function = entryOf(module);
    if (!function)
      return module.emitError("no public function with a body to run");
    auto stages = StageTable::create(module, function);
    if (failed(stages))
      return failure();
    table = std::move(*stages);
    for (auto op : module.getOps<MicrobatchesOpInterface>())
      microbatches = static_cast<int64_t>(op.getMicrobatches());
  }
  Workload own = workload;
  Result<int64_t> sequences = microbatchOf(workload.batch, microbatches);
  if (!sequences) {
    InFlightDiagnostic error = emitError(table ? table->loc() : module.getLoc(),
                                         sequences.error().message);
    error.attachNote() << sequences.error().note;
    return error;
  }
  own.batch = *sequences;
  FailureOr<DeviceGrid> made = DeviceGrid::create(module, own);
  if (failed(made))
    return failure();
  grid.emplace(std::move(*made));
  weights.resize(grid->size());
  sentBytes.assign(grid->size(), 0);
  summedBytes.assign(grid->size(), 0);
  outputParts.assign(microbatches, {});
  entryParts.assign(microbatches, {});
  updateEntries.clear();
  return success();
}

/// Adds the results of the current microbatch to those of the step.
LogicalResult Execution::addResults() {
  for (Value value :
       function.getBody().front().getTerminator()->getOperands()) {
    std::optional<LocalTensor> whole =
        gatherAll(TensorView(value), valueOf(value), *grid);
    if (!whole)
      return function.emitError(
          "devices that should have the same result do not");
    outputParts[microbatch].push_back(std::move(*whole));
  }
  return success();
}

/// Whether `value` is a sum over microbatches: it has no dimension of
/// sequences, but its operands have one.
static bool isSumOfBatch(OpResult value, const DeviceGrid &grid) {
  auto isOfBatch = [&](Value other) {
    return grid.batchDimOf(TensorView(other)).has_value();
  };
  return !isOfBatch(value) &&
         llvm::any_of(value.getOwner()->getOperands(), isOfBatch);
}

static LocalTensor sumOf(ArrayRef<LocalTensor> parts) {
  LocalTensor sum = parts.front();
  for (const LocalTensor &part : parts.drop_front())
    for (int64_t i = 0; i < sum.size(); ++i)
      sum.data[i] += part.data[i];
  return sum;
}

/// Joins the results and traces of all microbatches.
void Execution::finish() {
  outputs.clear();
  entries.clear();
  auto join = [&](Value value, auto partOf) {
    std::vector<LocalTensor> parts;
    for (int64_t i = 0; i < microbatches; ++i)
      parts.push_back(partOf(i));
    auto made = dyn_cast<OpResult>(value);
    if (made && isSumOfBatch(made, *grid))
      return sumOf(parts);
    return joinBatch(parts, grid->batchDimOf(TensorView(value)));
  };
  Operation *end = function.getBody().front().getTerminator();
  for (unsigned i = 0; i < end->getNumOperands(); ++i)
    outputs.push_back(join(end->getOperand(i), [&](int64_t number) {
      return outputParts[number][i];
    }));
  for (size_t i = 0; i < entryParts.front().size(); ++i) {
    TraceEntry entry = entryParts.front()[i];
    entry.value = join(entry.op->getResult(entry.result), [&](int64_t number) {
      return entryParts[number][i].value;
    });
    entries.push_back(std::move(entry));
  }
  llvm::append_range(entries, updateEntries);
}

/// Executes `section` of a step, after its forward. A backward has the inputs
/// of the forward.
LogicalResult Execution::runSections(Section section) {
  Values arguments;
  if (section == Section::backward)
    arguments = valuesOf(function.getArguments());
  for (auto op : module.getOps<StepSectionsOpInterface>())
    for (auto [part, own] : op.getSections())
      if (own == section &&
          failed(runBlock(part.getFunctionBody().front(), arguments)))
        return failure();
  return success();
}

LogicalResult Execution::runMicrobatches(bool isForward) {
  Block &forward = function.getBody().front();
  for (microbatch = 0; microbatch < microbatches; ++microbatch)
    if (failed(runBlock(forward, inputsOf(function))) || failed(addResults()) ||
        (!isForward && failed(runSections(Section::backward))))
      return failure();
  return success();
}

LogicalResult Execution::runForward(const Workload &workload) {
  traced = false;
  trained.saved.clear();
  if (failed(begin(workload)) ||
      failed(table ? runStages(/*trains=*/false)
                   : runMicrobatches(/*isForward=*/true)))
    return failure();
  finish();
  return success();
}

LogicalResult Execution::runUpdate() {
  isUpdate = true;
  LogicalResult updated = runSections(Section::optimizer);
  isUpdate = false;
  return updated;
}

LogicalResult Execution::runIteration() {
  if (!table)
    return failure(failed(runMicrobatches(/*isForward=*/false)) ||
                   failed(runUpdate()));
  bool trains = isTraining();
  if (failed(runStages(trains)))
    return failure();
  return failure(trains &&
                 (failed(exchangeGradients()) || failed(runUpdate())));
}

LogicalResult Execution::run(const Workload &workload, bool isTraced) {
  traced = isTraced;
  if (!trained.next.empty())
    keptWeights.clear();
  trained.beginIteration();
  if (failed(begin(workload)))
    return failure();
  if (failed(runIteration()))
    return failure();
  finish();
  return success();
}
