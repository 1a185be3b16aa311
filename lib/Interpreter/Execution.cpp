//===- Execution.cpp ------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Interpreter/Execution.h"

#include "autopar/Dialect/Parallel/Parallel.h"
#include "autopar/Dialect/Transformer/Transformer.h"
#include "autopar/Interfaces/Interfaces.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/Support/xxhash.h"

#include "autopar/Interpreter/Execution.cpp.inc"

#include <cmath>

using namespace autopar;
using namespace mlir;

double autopar::randomNumber(StringRef name, int64_t index) {
  uint64_t bits = llvm::xxh3_64bits(name) + 0x9e3779b97f4a7c15ull * (index + 1);
  // SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9ull;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebull;
  bits ^= bits >> 31;
  return static_cast<double>(bits >> 11) * 0x1p-52 - 1;
}

//===----------------------------------------------------------------------===//
// Devices
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
  bool isOfStep = TensorView(value).dim(dim).extent == "query";
  for (int64_t &position : all)
    position += isOfStep ? step.context - step.query : 0;
  return all;
}

//===----------------------------------------------------------------------===//
// All devices together
//===----------------------------------------------------------------------===//

namespace {

/// Walks over the elements of a device's part: where they are in the whole.
class Placement {
public:
  Placement(const TensorView &type, const DeviceGrid &grid, int64_t device) {
    for (unsigned dim = 0; dim < type.rank(); ++dim) {
      indices.push_back(grid.indicesOf(type, dim, device));
      extents.push_back(grid.extentOf(type, dim));
    }
  }
  const std::vector<int64_t> &wholeShape() const { return extents; }
  std::vector<int64_t> shape() const {
    std::vector<int64_t> sizes;
    for (const auto &all : indices)
      sizes.push_back(static_cast<int64_t>(all.size()));
    return sizes;
  }
  /// Calls `visit(local offset, whole offset)`, -1 of padding.
  template <typename Visit>
  void forEach(Visit visit) const {
    int64_t count = 1;
    for (const auto &all : indices)
      count *= static_cast<int64_t>(all.size());
    for (int64_t at = 0; at < count; ++at) {
      int64_t rest = at, whole = 0, scale = 1;
      bool isPadding = false;
      for (size_t dim = indices.size(); dim-- > 0;) {
        auto size = static_cast<int64_t>(indices[dim].size());
        int64_t index = indices[dim][rest % size];
        isPadding |= index < 0;
        whole += index * scale;
        scale *= extents[dim];
        rest /= size;
      }
      visit(at, isPadding ? -1 : whole);
    }
  }

private:
  std::vector<std::vector<int64_t>> indices;
  std::vector<int64_t> extents;
};

} // namespace

/// Replicas have done the same in another order at most.
static bool agree(double a, double b) {
  return a == b || std::abs(a - b) <= 1e-9 * (1 + std::abs(a)) ||
         (std::isnan(a) && std::isnan(b));
}

std::optional<LocalTensor> autopar::gatherAll(const TensorView &type,
                                              const DeviceTensors &tensors,
                                              const DeviceGrid &grid) {
  if (type.isSet())
    return std::nullopt;
  LocalTensor whole(Placement(type, grid, 0).wholeShape());
  std::vector<char> known(whole.data.size());
  for (int64_t device = 0; device < grid.size(); ++device) {
    if (grid.placeOf(device, type.partialAxes()) != 0)
      continue;
    std::vector<int64_t> addends = grid.groupOf(device, type.partialAxes());
    bool same = true;
    Placement(type, grid, device).forEach([&](int64_t local, int64_t at) {
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
// What stays
//===----------------------------------------------------------------------===//

/// Rings see a cache where it is; whatever else moves it makes a copy.
static Operation *residentOf(Value value) {
  Operation *op = value.getDefiningOp();
  while (auto ring = dyn_cast_if_present<parallel::RingOp>(op))
    op = ring.getInput().getDefiningOp();
  return isa_and_present<transformer::KVCacheOp, transformer::StateOp>(op)
             ? op
             : nullptr;
}

/// "model.layers.3/12": which layer, and which op of its function.
std::string Execution::residentKey(Value value) const {
  Operation *op = residentOf(value);
  if (!op)
    return "";
  int64_t number = 0;
  op->getParentOfType<func::FuncOp>().walk<WalkOrder::PreOrder>(
      [&](Operation *other) {
        if (other == op)
          return WalkResult::interrupt();
        number += isa<transformer::KVCacheOp, transformer::StateOp>(other);
        return WalkResult::advance();
      });
  return layer + "/" + std::to_string(number);
}

/// Tokens that were cached before the first step: random ones.
static void fillCache(const std::string &key, const TensorView &type,
                      const DeviceGrid &grid,
                      std::vector<CachedTokens> &cache) {
  const Workload &step = grid.workload();
  DimRef tokens = type.dim(1);
  int64_t before = tokens.extent == "context" ? step.context - step.query : 0;
  for (int64_t device = 0; device < grid.size(); ++device) {
    int64_t parts = grid.sizeOf(tokens.axes);
    int64_t place = grid.placeOf(device, tokens.axes);
    Placement placement(type, grid, device);
    std::vector<int64_t> shape = placement.shape();
    int64_t width = 1;
    for (size_t dim = 2; dim < shape.size(); ++dim)
      width *= shape[dim];
    std::vector<std::vector<int64_t>> indices;
    for (unsigned dim = 0; dim < type.rank(); ++dim)
      indices.push_back(grid.indicesOf(type, dim, device));
    for (int64_t token = place; token < before; token += parts) {
      std::vector<int64_t> rowShape = shape;
      rowShape.erase(rowShape.begin() + 1);
      LocalTensor &row = cache[device][token] = LocalTensor(rowShape);
      for (int64_t at = 0; at < row.size(); ++at) {
        int64_t rest = at % width, batch = indices[0][at / width];
        int64_t whole = 0, scale = 1;
        for (size_t dim = shape.size(); dim-- > 2;) {
          whole += indices[dim][rest % shape[dim]] * scale;
          scale *= grid.extentOf(type, dim);
          rest /= shape[dim];
        }
        row.data[at] = randomNumber(key + "/" + std::to_string(token),
                                    batch * scale + whole);
      }
    }
  }
}

CachedTokens *Execution::cacheOf(Value value, int64_t device) {
  std::string key = residentKey(value);
  if (key.empty())
    return nullptr;
  auto [found, isNew] = caches.try_emplace(key, grid->size());
  if (isNew)
    fillCache(key, TensorView(value), *grid, found->second);
  return &found->second[device];
}

LocalTensor *Execution::stateOf(Value value, int64_t device) {
  std::string key = residentKey(value);
  if (key.empty())
    return nullptr;
  auto [found, isNew] = states.try_emplace(key, grid->size());
  if (isNew) {
    bool begins = grid->workload().context == grid->workload().query;
    for (int64_t other = 0; other < grid->size(); ++other) {
      Placement placement(TensorView(value), *grid, other);
      LocalTensor &state = found->second[other] =
          LocalTensor(placement.shape());
      placement.forEach([&](int64_t local, int64_t at) {
        state.data[local] = begins ? 0 : randomNumber(key, at);
      });
    }
  }
  return &found->second[device];
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

Execution::Values Execution::valuesOf(ValueRange range) const {
  Values all;
  for (Value value : range)
    all.push_back(valueOf(value));
  return all;
}

void Execution::setAll(ValueRange range, Values all) {
  for (auto [value, tensors] : llvm::zip(range, all))
    values[value] = std::move(tensors);
}

/// Shapes are those of the type, and replicas have the same.
LogicalResult Execution::check(Operation *op, DeviceTensors &tensors) {
  TensorView type(op->getResult(0));
  if (type.isSet() ||
      isa<transformer::KVCacheOp, transformer::StateOp, parallel::RingOp>(op))
    return success();
  for (int64_t device = 0; device < grid->size(); ++device) {
    std::vector<int64_t> shape = Placement(type, *grid, device).shape();
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
  if (traced)
    entries.push_back({op, layer, std::move(*whole)});
  return success();
}

/// Rings leave a cache where it is; other collectives do not.
static bool movesResident(Operation *op) {
  return isa<parallel::ParallelDialect>(op->getDialect()) &&
         !isa<parallel::RingOp>(op) &&
         llvm::any_of(op->getOperands(), [](Value operand) {
           return residentOf(operand) != nullptr;
         });
}

LogicalResult Execution::compute(Operation *op) {
  auto executable = dyn_cast<ExecutableOpInterface>(op);
  if (!executable || op->getNumResults() != 1)
    return op->emitError("cannot be executed yet");
  if (movesResident(op))
    return op->emitError("moves a cache or a state: what is updated behind it "
                         "is a copy");
  DeviceTensors tensors;
  for (int64_t id = 0; id < grid->size(); ++id) {
    Device device(*this, id);
    if (failed(executable.prepare(device)))
      return failure();
  }
  for (int64_t id = 0; id < grid->size(); ++id) {
    Device device(*this, id);
    FailureOr<LocalTensor> local = executable.execute(device);
    if (failed(local))
      return failure();
    tensors.push_back(std::move(*local));
  }
  if (failed(check(op, tensors)))
    return failure();
  values[op->getResult(0)] = std::move(tensors);
  return success();
}

LogicalResult Execution::runCall(Operation *op) {
  auto call = cast<func::CallOp>(op);
  auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
      op, call.getCalleeAttr());
  if (!callee || callee.isExternal())
    return op->emitError("calls a function without a body");
  std::string around = layer;
  if (nextLayer)
    layer = prefix + "." + std::to_string((*nextLayer)++);
  // Layers are not inside layers.
  std::optional<int64_t> counter = std::exchange(nextLayer, std::nullopt);
  FailureOr<Values> results =
      runBlock(callee.getBody().front(), valuesOf(op->getOperands()));
  nextLayer = counter;
  layer = around;
  if (failed(results))
    return failure();
  setAll(op->getResults(), std::move(*results));
  return success();
}

LogicalResult Execution::runRepeat(Operation *op) {
  auto repeat = cast<transformer::RepeatOp>(op);
  bool counts = repeat.getPrefix().has_value();
  if (counts) {
    prefix = repeat.getPrefix()->str();
    nextLayer = repeat.getFirst();
  }
  Values carried = valuesOf(repeat.getInitArgs());
  for (int64_t i = 0; i < static_cast<int64_t>(repeat.getCount()); ++i) {
    FailureOr<Values> next =
        runBlock(repeat.getBody().front(), std::move(carried));
    if (failed(next))
      return failure();
    carried = std::move(*next);
  }
  if (counts)
    nextLayer.reset();
  setAll(op->getResults(), std::move(carried));
  return success();
}

LogicalResult Execution::runOp(Operation *op) {
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
  return valuesOf(block.getTerminator()->getOperands());
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

static func::FuncOp entryOf(ModuleOp module) {
  func::FuncOp entry;
  for (auto function : module.getOps<func::FuncOp>())
    if (function.isPublic() && !function.isExternal())
      entry = function;
  return entry;
}

/// Token ids below the vocabulary, other inputs from -1 to 1.
static DeviceTensors makeInput(BlockArgument argument, const DeviceGrid &grid,
                               int64_t vocabulary) {
  TensorView type(argument);
  bool areIds = type.getType().getElementType().isInteger();
  std::string name = "input " + std::to_string(argument.getArgNumber()) + " " +
                     std::to_string(grid.workload().context);
  DeviceTensors tensors;
  for (int64_t device = 0; device < grid.size(); ++device) {
    Placement placement(type, grid, device);
    LocalTensor &local = tensors.emplace_back(placement.shape());
    placement.forEach([&](int64_t at, int64_t whole) {
      double number = randomNumber(name, whole);
      local.data[at] =
          areIds ? std::floor((number + 1) / 2 * double(vocabulary)) : number;
    });
  }
  return tensors;
}

/// The fewest rows of a table that tokens are looked up in.
static int64_t vocabularyOf(ModuleOp module) {
  int64_t rows = 1 << 30;
  module.walk([&](transformer::EmbeddingOp op) {
    rows = std::min(rows, op.getTable().getType().getDimSize(0));
  });
  return rows;
}

LogicalResult Execution::run(const Workload &workload, bool isTraced) {
  func::FuncOp entry = entryOf(module);
  if (!entry)
    return module.emitError("no public function with a body to run");
  function = entry;
  FailureOr<DeviceGrid> made = DeviceGrid::create(module, workload);
  if (failed(made))
    return failure();
  grid.emplace(std::move(*made));
  traced = isTraced;
  entries.clear();
  Values inputs;
  for (BlockArgument argument : entry.getArguments())
    inputs.push_back(makeInput(argument, *grid, vocabularyOf(module)));
  Block &body = entry.getBody().front();
  FailureOr<Values> results = runBlock(body, std::move(inputs));
  if (failed(results))
    return failure();
  outputs.clear();
  for (auto [value, tensors] :
       llvm::zip(body.getTerminator()->getOperands(), *results)) {
    std::optional<LocalTensor> whole =
        gatherAll(TensorView(value), tensors, *grid);
    if (!whole)
      return entry.emitError("devices that should have the same result do not");
    outputs.push_back(std::move(*whole));
  }
  return success();
}
