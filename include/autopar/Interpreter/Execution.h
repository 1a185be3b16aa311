//===- Execution.h - A module on simulated devices --------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Executes a module literally, in double precision: each device has arrays of
// its own, and gets data of others only through collectives.
//
// Weights and inputs are random numbers that depend only on names, so that a
// module and its split version have the same numbers, and anyone with the
// checkpoint's layout can reproduce them. u(name, i), from -1 to 1, is computed
// with 64-bit integers that wrap around:
//   z = xxh3_64(name) + 0x9e3779b97f4a7c15 * (i + 1)
//   z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9
//   z = (z ^ (z >> 27)) * 0x94d049bb133111eb
//   z = z ^ (z >> 31)
//   u = (z >> 11) * 2^-52 - 1
// Element i (row-major) of the checkpoint tensor `name` ("model.layers.0..") is
// u(name, i) in a tensor of one dimension, else 0.3 * u(name, i), so that sums
// stay near one. A quantised tensor uses its plain name. If the context of a
// step is c tokens, element i of its argument n is u("input n c", i), and a
// token id is floor((u + 1) / 2 * vocabulary). If inputs follow positions
// instead of steps, the input at position p of a sequence is u("input n
// position p", i), where i counts the elements of that position.
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

/// The cached tokens of one device's sequences: for each token of a sequence, a
/// tensor `[batch, ..]` with the device's parts of these dimensions.
using CachedTokens = std::map<int64_t, LocalTensor>;

/// The contents of KV caches and recurrent states, joined over all devices.
struct KeptTensors {
  std::map<std::string, CachedTokens> caches;
  std::map<std::string, LocalTensor> states;
};

class Execution;
class ExecutableOpInterface;

/// One device while it executes an op; ops read their operands through it.
class Device {
public:
  Device(Execution &run, int64_t id) : run(run), id(id) {}

  const LocalTensor &operator()(mlir::Value value) const;
  /// Returns the tensor that another device holds of `value`.
  const LocalTensor &of(int64_t device, mlir::Value value) const;
  const DeviceGrid &grid() const;
  /// Returns the indices along a dimension of `value` that this device holds.
  std::vector<int64_t> indices(mlir::Value value, unsigned dim) const {
    return grid().indicesOf(TensorView(value), dim, id);
  }
  /// Returns the positions, in their sequences, of this device's tokens along
  /// dimension `dim`. Tokens of this step follow the cached ones.
  std::vector<int64_t> positions(mlir::Value value, unsigned dim) const;

  Execution &run;
  const int64_t id;
};

/// Executes ops as the module states. Tests override it to make deliberate
/// mistakes, which must be detected.
class Executor {
public:
  virtual ~Executor();
  virtual mlir::LogicalResult prepare(ExecutableOpInterface op, Device &device);
  virtual mlir::FailureOr<LocalTensors> execute(ExecutableOpInterface op,
                                                Device &device);
  /// Hooks for tests: change the order of a stage's tasks, or a message between
  /// stages.
  virtual void order(StageOrders &) {}
  virtual void send(StageMessage &) {}
};

/// The value that an op computed in one execution, for comparison with another.
struct TraceEntry {
  mlir::Operation *op = nullptr;
  std::string layer;
  /// The value, joined over all devices and all microbatches.
  LocalTensor value;
  /// The index of the value among the results of the op.
  unsigned result = 0;
  /// The pipeline stage that computed the value, if the module has stages.
  std::optional<int64_t> stage = std::nullopt;
};

/// For one device, bytes in the formats of the types: weights, KV caches and
/// states that it holds after a step; bytes that it sent to devices of other
/// stages; bytes of its gradients that are summed with other stages.
struct DeviceHoldings {
  int64_t weights = 0, caches = 0, states = 0, sent = 0, summed = 0;
};

/// The names on which the random inputs of a step depend: the step's number, or
/// the positions of its tokens.
enum class InputRule { step, position };

/// Executes the steps of one module. KV caches and states persist between
/// steps.
class Execution {
public:
  /// `module` and `executor` must outlive this object.
  explicit Execution(mlir::ModuleOp module, InputRule inputs = InputRule::step,
                     Executor *executor = nullptr)
      : module(module), inputs(inputs), executor(executor ? *executor : plain) {
  }

  /// Executes the module's public function for one step and, in training, the
  /// backward and the update; `traced` says whether the values of all ops are
  /// kept. Emits errors: an op that cannot be executed, a shape that differs
  /// from its type, devices whose copies of a value differ.
  mlir::LogicalResult run(const program::Workload &workload,
                          bool traced = false);
  /// Executes only the public function, with the weights of the last step.
  mlir::LogicalResult runForward(const program::Workload &workload);

  /// Continues the execution of another module: takes the KV caches and states
  /// of `from`, in the layouts of this module. Call it before the first step.
  /// Emits an error if devices of `from` have different copies.
  mlir::LogicalResult takeOver(const Execution &from);

  /// Returns the results of the last step, joined over all devices.
  const std::vector<LocalTensor> &results() const { return outputs; }
  /// Returns the function that returned `results`.
  mlir::Operation *entry() const { return function; }
  const std::vector<TraceEntry> &trace() const { return entries; }
  std::vector<DeviceHoldings> holdings() const;
  /// Returns the gradients of the last step, summed over microbatches and
  /// joined over devices, for each checkpoint tensor that the step reads.
  /// Errors are emitted.
  mlir::FailureOr<CheckpointElements> gradients() const;
  /// Whether a step also updates weights.
  bool isTraining() const;

  // Functions for the execution of ops.
  const DeviceGrid &getGrid() const { return *grid; }
  const DeviceTensors &valueOf(mlir::Value value) const {
    return values.find(value)->second.tensors;
  }
  DeviceTensors &valueOf(mlir::Value value) {
    return values.find(value)->second.tensors;
  }
  /// Returns the name of the layer that is being executed, "model.layers.3"; ""
  /// outside of layers.
  const std::string &layerName() const { return layer; }
  /// Returns the number of the layer that is being executed: 3 in
  /// "model.layers.3"; nothing outside of layers.
  std::optional<int64_t> getLayerNumber() const { return layerNumber; }
  /// Return the KV cache or the state behind the handle `value` on `device`;
  /// null if a collective moved it, so that an update would change a copy.
  CachedTokens *cacheOf(mlir::Value value, int64_t device);
  LocalTensor *stateOf(mlir::Value value, int64_t device);
  TrainingMemory &training() { return trained; }
  const TrainingMemory &training() const { return trained; }
  /// `microbatchNumber`: the current microbatch. `microbatchCount`: how many
  /// there are.
  int64_t microbatchNumber() const { return microbatch; }
  int64_t microbatchCount() const { return microbatches; }

private:
  /// The tensors of a value on all devices; empty if there are none. `received`
  /// is the value's index in the message that the stage received, or -1.
  struct Held {
    DeviceTensors tensors;
    int64_t received = -1;
  };
  using Values = std::vector<Held>;
  /// The KV cache or the state of one microbatch, on all devices that hold it.
  template <typename T>
  struct Kept {
    /// One of the SSA values that refer to the cache or state.
    mlir::Value handle;
    /// The devices that hold the cache or state, as numbers in the grid.
    std::vector<int64_t> devices;
    std::vector<T> byDevice;
  };
  /// All KV caches or all states: by layer and op, then by microbatch.
  template <typename T>
  using AllKept = std::map<std::string, std::map<int64_t, Kept<T>>>;
  /// Identifies a weight: attributes and type of its op, and its layer.
  using WeightKey = std::tuple<const void *, const void *, std::string>;
  /// A weight on the devices, until its next update.
  struct KeptWeight {
    /// The names of the weight's checkpoint tensors.
    std::vector<std::string> names;
    /// The devices that hold the weight, as numbers in the grid.
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

  // The functions that execute a pipeline.
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
  /// The stages of the module; null if it has none.
  std::unique_ptr<StageTable> table;
  std::optional<DeviceGrid> grid;
  llvm::DenseMap<mlir::Value, Held> values;
  llvm::DenseMap<mlir::Operation *, int64_t> residentNumbers;
  AllKept<CachedTokens> caches;
  AllKept<LocalTensor> states;
  std::string layer;
  std::optional<int64_t> layerNumber;
  /// The number of the next layer in the surrounding loop, if there is one, and
  /// the difference to the number after it.
  std::optional<int64_t> nextLayer;
  int64_t layerStep = 1;
  std::string prefix;
  bool traced = false;
  /// The current microbatch, the number of microbatches, and the part of the
  /// stage that is being executed.
  int64_t microbatch = 0, microbatches = 1;
  StagePart *part = nullptr;
  /// Whether all microbatches have been executed, so that the update runs.
  bool isUpdate = false;
  /// Results and traced values of each microbatch.
  std::vector<std::vector<LocalTensor>> outputParts;
  std::vector<std::vector<TraceEntry>> entryParts;
  std::vector<TraceEntry> updateEntries;
  std::vector<LocalTensor> outputs;
  std::vector<TraceEntry> entries;
  std::map<WeightKey, KeptWeight> keptWeights;
  /// For each device: bytes of its weights, by attributes and layer (equal
  /// weights count once); bytes that it sent in the step; bytes of its
  /// gradients that were summed in the step.
  std::vector<std::map<std::pair<const void *, std::string>, int64_t>> weights;
  std::vector<int64_t> sentBytes, summedBytes;
  TrainingMemory trained;
  /// Initial contents of KV caches and states, if they were taken over from
  /// another execution.
  std::optional<KeptTensors> handed;
};

/// Joins the parts of a tensor of `type` that the devices hold, and sums
/// partial values. Returns nothing if copies on different devices differ.
std::optional<LocalTensor> gatherAll(const TensorView &type,
                                     const DeviceTensors &tensors,
                                     const DeviceGrid &grid);

/// Returns a reproducible random number from -1 to 1 for element `index` of the
/// tensor `name`.
double randomNumber(llvm::StringRef name, int64_t index);

/// Factor by which random elements of matrices are multiplied.
constexpr double matrixScale = 0.3;

/// Registers the execution of all ops, for contexts made from `registry`.
void registerExecution(mlir::DialectRegistry &registry);

} // namespace autopar::interpreter

#include "autopar/Interpreter/Execution.h.inc"

#endif // AUTOPAR_INTERPRETER_EXECUTION_H
