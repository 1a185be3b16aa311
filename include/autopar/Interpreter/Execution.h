//===- Execution.h - A module on simulated devices --------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs a module as its text says, in double precision: each device has arrays
// of its own, and knows of others only what collectives bring.
//
// Its numbers are random, and follow from names: a module has the same as its
// split self, and whoever has the checkpoint's layout can make them again.
// u(name, i), from -1 to 1, is made of 64-bit integers that wrap around:
//
//   z = xxh3_64(name) + 0x9e3779b97f4a7c15 * (i + 1)
//   z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9
//   z = (z ^ (z >> 27)) * 0x94d049bb133111eb
//   z = z ^ (z >> 31)
//   u = (z >> 11) * 2^-52 - 1
//
// Element i (row-major) of the checkpoint tensor `name` ("model.layers.0..") is
// u(name, i) in a tensor of one dimension, else 0.3 * u(name, i): near enough
// to zero that sums stay about one. A quantized tensor is that of its plain
// name. Where the context of a step is c tokens, element i of its argument n is
// u("input n c", i), a token id floor((u + 1) / 2 * vocabulary). Where inputs
// follow positions, not steps, that of position p of a sequence is
// u("input n position p", i), i that of the element among those of its
// position.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_INTERPRETER_EXECUTION_H
#define AUTOPAR_INTERPRETER_EXECUTION_H

#include "autopar/Interpreter/DeviceGrid.h"
#include "autopar/Interpreter/LocalTensor.h"
#include "autopar/Interpreter/Stages.h"
#include "autopar/Interpreter/TrainingMemory.h"

#include "mlir/IR/Operation.h"

#include <map>
#include <memory>
#include <string>

namespace autopar::interpreter {

/// What a device has cached of the tokens of its sequences: by token, a row of
/// `[batch, ..]` as it has those dimensions.
using CachedTokens = std::map<int64_t, LocalTensor>;

/// What caches and states hold, of all devices together.
struct KeptTensors {
  std::map<std::string, CachedTokens> caches;
  std::map<std::string, LocalTensor> states;
};

class Execution;
class ExecutableOpInterface;

/// One device, while it executes an op.
class Device {
public:
  Device(Execution &run, int64_t id) : run(run), id(id) {}

  const LocalTensor &operator()(mlir::Value value) const;
  /// What another device has.
  const LocalTensor &of(int64_t device, mlir::Value value) const;
  const DeviceGrid &grid() const;
  /// The indices that it has of a value's dimension.
  std::vector<int64_t> indices(mlir::Value value, unsigned dim) const {
    return grid().indicesOf(TensorView(value), dim, id);
  }
  /// The positions in their sequences of the tokens that it has, in dimension
  /// `dim`: those of this step follow the cached ones.
  std::vector<int64_t> positions(mlir::Value value, unsigned dim) const;

  Execution &run;
  const int64_t id;
};

/// Has everything done as the module says. A test's own does some otherwise, to
/// see that it is noticed.
class Executor {
public:
  virtual ~Executor();
  virtual mlir::LogicalResult prepare(ExecutableOpInterface op, Device &device);
  virtual mlir::FailureOr<LocalTensors> execute(ExecutableOpInterface op,
                                                Device &device);
  /// Changes what stages do when, and what one sends another.
  virtual void order(StageOrders &) {}
  virtual void send(StageMessage &) {}
};

/// What happened to one value: for comparing two runs.
struct TraceEntry {
  mlir::Operation *op = nullptr;
  std::string layer;
  /// Of all devices together, and of all microbatches.
  LocalTensor value;
  /// Which one of the op's.
  unsigned result = 0;
  /// Of a pipeline.
  std::optional<int64_t> stage = std::nullopt;
};

/// Bytes, in the formats of the types, that a device holds after a step, that
/// it has sent to devices of other stages in it, and that it has of gradients
/// that are summed with those of other stages.
struct DeviceHoldings {
  int64_t weights = 0, caches = 0, states = 0, sent = 0, summed = 0;
};

/// What the random inputs of a step follow from.
enum class InputRule { step, position };

/// Runs the steps of one module. What caches and states hold stays.
class Execution {
public:
  /// `module` and `executor` outlive it.
  explicit Execution(mlir::ModuleOp module, InputRule inputs = InputRule::step,
                     Executor *executor = nullptr)
      : module(module), inputs(inputs), executor(executor ? *executor : plain) {
  }

  /// Runs the module's public function for one step, and what a step runs after
  /// it; `traced` says whether values are kept. Errors are emitted: what cannot
  /// be executed, shapes that are not those of types, devices that should have
  /// the same and do not.
  mlir::LogicalResult run(const program::Workload &workload,
                          bool traced = false);
  /// The public function alone, with the weights that the last step had.
  mlir::LogicalResult runForward(const program::Workload &workload);

  /// Goes on where the run of another module has got to: caches and states are
  /// those of `from`, in the layouts of this module. Before the first step.
  /// Errors are emitted: devices of `from` that hold different copies.
  mlir::LogicalResult takeOver(const Execution &from);

  /// The results of the last step, of all devices together.
  const std::vector<LocalTensor> &results() const { return outputs; }
  /// The function that had them.
  mlir::Operation *entry() const { return function; }
  const std::vector<TraceEntry> &trace() const { return entries; }
  std::vector<DeviceHoldings> holdings() const;
  /// What backwards of the last step have added up of all devices together, of
  /// each checkpoint tensor that it reads. Errors are emitted.
  mlir::FailureOr<CheckpointElements> gradients() const;
  /// Whether a step updates weights.
  bool isTraining() const;

  // For ops.
  const DeviceGrid &getGrid() const { return *grid; }
  const DeviceTensors &valueOf(mlir::Value value) const {
    return values.find(value)->second.tensors;
  }
  DeviceTensors &valueOf(mlir::Value value) {
    return values.find(value)->second.tensors;
  }
  /// "model.layers.3", or "".
  const std::string &layerName() const { return layer; }
  /// 3 in "model.layers.3"; none outside layers.
  std::optional<int64_t> getLayerNumber() const { return layerNumber; }
  /// The cache or state that `value` is a handle of, on `device`; null where it
  /// was moved, and an update would go to a copy.
  CachedTokens *cacheOf(mlir::Value value, int64_t device);
  LocalTensor *stateOf(mlir::Value value, int64_t device);
  TrainingMemory &training() { return trained; }
  const TrainingMemory &training() const { return trained; }
  /// The part of the batch that runs, of how many.
  int64_t microbatchNumber() const { return microbatch; }
  int64_t microbatchCount() const { return microbatches; }

private:
  /// A value; none without tensors. `received`: which part of what the stage
  /// was sent, -1 of none.
  struct Held {
    DeviceTensors tensors;
    int64_t received = -1;
  };
  using Values = std::vector<Held>;
  /// What a cache or state holds of a microbatch.
  template <typename T>
  struct Kept {
    /// A handle of it.
    mlir::Value handle;
    /// Those that hold it.
    std::vector<int64_t> devices;
    std::vector<T> byDevice;
  };
  /// By layer and op, then by microbatch.
  template <typename T>
  using AllKept = std::map<std::string, std::map<int64_t, Kept<T>>>;
  /// By the attributes and the type of its op, and by layer: what is equal in
  /// these is one weight.
  using WeightKey = std::tuple<const void *, const void *, std::string>;
  /// A weight as it is on devices until it is updated.
  struct KeptWeight {
    /// The checkpoint tensors that it has.
    std::vector<std::string> names;
    /// Those that hold it.
    std::vector<int64_t> devices;
    DeviceTensors tensors;
    std::optional<LocalTensor> whole;
  };

  mlir::FailureOr<Values> runBlock(mlir::Block &block, Values arguments);
  mlir::LogicalResult runOp(mlir::Operation *op);
  mlir::LogicalResult runRepeat(mlir::Operation *op);
  mlir::LogicalResult runCall(mlir::Operation *op);
  void enterLayer(std::optional<int64_t> number);
  mlir::LogicalResult compute(mlir::Operation *op);
  mlir::FailureOr<std::vector<DeviceTensors>> execute(mlir::Operation *op);
  mlir::FailureOr<std::optional<LocalTensor>> check(mlir::OpResult result,
                                                    DeviceTensors &tensors);
  void setValue(mlir::OpResult result, DeviceTensors tensors,
                std::optional<LocalTensor> whole);
  mlir::LogicalResult runWeight(mlir::Operation *op);
  Values valuesOf(mlir::ValueRange range) const;
  void setAll(mlir::ValueRange range, Values all);
  int64_t residentNumber(mlir::Operation *resident);
  std::string residentKey(mlir::Value value);
  template <typename T>
  T *keptOf(mlir::Value value, int64_t device, AllKept<T> &all);
  mlir::LogicalResult fill(const std::string &key, Kept<CachedTokens> &cache);
  mlir::LogicalResult fill(const std::string &key, Kept<LocalTensor> &state);
  mlir::LogicalResult begin(const program::Workload &workload);
  mlir::LogicalResult runIteration();
  mlir::LogicalResult runUpdate();
  mlir::LogicalResult runMicrobatches(bool isForward);
  mlir::LogicalResult runSections(program::Section section);
  void finish();
  Values inputsOf(mlir::func::FuncOp entry);
  mlir::LogicalResult addResults();

  // Of a pipeline.
  struct StagePart;
  mlir::LogicalResult runStages(bool trains);
  mlir::LogicalResult runStage(StagePart &own);
  mlir::LogicalResult runPlaced(mlir::Operation *op);
  mlir::LogicalResult runInStack(mlir::Operation *op);
  mlir::LogicalResult runLayer(mlir::Operation *call);
  mlir::LogicalResult runWithin(mlir::Operation *op);
  void receive();
  mlir::LogicalResult leaveLayers(mlir::Operation *op);
  mlir::LogicalResult send(llvm::ArrayRef<mlir::Value> sent);
  mlir::LogicalResult demand(mlir::Operation *op);
  mlir::LogicalResult makeGiven(mlir::Value value);
  mlir::LogicalResult makeCarried(mlir::ValueRange inits);
  mlir::LogicalResult exchangeGradients();
  mlir::FailureOr<bool> enterHolders(mlir::Operation *op);

  mlir::ModuleOp module;
  InputRule inputs;
  Executor plain;
  Executor &executor;
  mlir::func::FuncOp function;
  /// Null without stages.
  std::unique_ptr<StageTable> table;
  std::optional<DeviceGrid> grid;
  llvm::DenseMap<mlir::Value, Held> values;
  llvm::DenseMap<mlir::Operation *, int64_t> residentNumbers;
  AllKept<CachedTokens> caches;
  AllKept<LocalTensor> states;
  std::string layer;
  std::optional<int64_t> layerNumber;
  /// The number of the next layer of the loop around, where there is one, and
  /// what follows it.
  std::optional<int64_t> nextLayer;
  int64_t layerStep = 1;
  std::string prefix;
  bool traced = false;
  /// The part of the batch that runs, of how many, and the stage that runs it.
  int64_t microbatch = 0, microbatches = 1;
  StagePart *part = nullptr;
  /// Whether all microbatches have run.
  bool isUpdate = false;
  /// By microbatch.
  std::vector<std::vector<LocalTensor>> outputParts;
  std::vector<std::vector<TraceEntry>> entryParts;
  std::vector<TraceEntry> updateEntries;
  std::vector<LocalTensor> outputs;
  std::vector<TraceEntry> entries;
  std::map<WeightKey, KeptWeight> keptWeights;
  /// By device: the bytes of each weight, by its attributes and layer: equal
  /// ones are one; bytes sent in the step; bytes of gradients summed in it.
  std::vector<std::map<std::pair<const void *, std::string>, int64_t>> weights;
  std::vector<int64_t> sentBytes, summedBytes;
  TrainingMemory trained;
  /// What caches and states begin with where that was handed over.
  std::optional<KeptTensors> handed;
};

/// Puts together what devices have of a tensor of `type`, sums made; nothing
/// where devices that should have the same do not.
std::optional<LocalTensor> gatherAll(const TensorView &type,
                                     const DeviceTensors &tensors,
                                     const DeviceGrid &grid);

/// u(name, index): from -1 to 1.
double randomNumber(llvm::StringRef name, int64_t index);

/// What elements of matrices are multiplied by.
constexpr double matrixScale = 0.3;

/// How ops are executed: for the registry of a context.
void registerExecution(mlir::DialectRegistry &registry);

} // namespace autopar::interpreter

#include "autopar/Interpreter/Execution.h.inc"

#endif // AUTOPAR_INTERPRETER_EXECUTION_H
