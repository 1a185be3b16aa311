//===- WorkloadBuilder.h - Adds the costs of ops to a program ---*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_INTERFACES_WORKLOADBUILDER_H
#define AUTOPAR_INTERFACES_WORKLOADBUILDER_H

#include "autopar/Interfaces/Interfaces.h"
#include "autopar/Program/CostProgram.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringMap.h"

#include <unordered_set>

namespace autopar {

/// The number format in which matmuls with a weight multiply, and the format in
/// which the weight is stored (`Kernel::storage`).
struct WeightUnits {
  std::optional<ElementType> compute = std::nullopt, storage = std::nullopt;
};

/// Numbers that an optimizer keeps for a weight. If `block` is not 0, each
/// `block` of them has one f32 scale.
struct KeptState {
  program::Dims shape;
  ElementType type = ElementType::f32;
  int64_t block = 0;
  /// Whether the state is a copy of the weight itself (a master copy).
  bool isMaster = false;
};

/// How often a value is read and written, in its own format and in fp32.
struct Passes {
  int reads = 0, writes = 0, floatReads = 0, floatWrites = 0;
};

/// Builds the records of a cost program. The analysis walks the module and sets
/// the current place (`enter`, `bind`); each op adds its records through the
/// helpers below.
class WorkloadBuilder {
public:
  explicit WorkloadBuilder(program::CostProgram &program) : program(program) {}

  //===--------------------------------------------------------------------===//
  // Functions that ops call to state their workload
  //===--------------------------------------------------------------------===//

  /// Return the dimensions `[begin, end)` of a tensor, or all of them, as an op
  /// sees them: a KV cache that is passed around a ring is whole to the op that
  /// reads it.
  program::Dims dims(mlir::Value tensor, unsigned begin, unsigned end);
  program::Dims dims(mlir::Value tensor);
  ElementType formatOf(mlir::Value tensor);

  /// Adds a kernel of `op` and returns it. Kernels with the same `input` may be
  /// launched as one. The reference is valid until the next call.
  program::Kernel &addKernel(mlir::Operation *op, program::KernelKind kind,
                             mlir::Value input = {});
  /// Adds a matmul kernel of 2*rows*columns*contraction FLOPs and returns it;
  /// the op fills in the dimensions.
  program::Kernel &addProduct(mlir::Operation *op, program::KernelKind kind,
                              program::FlopClass flopClass, mlir::Value input);
  /// Adds the kernel that casts `x` to the narrower format in which `weight` is
  /// multiplied, once for all products of `x`. A cast with one scale per tensor
  /// joins the elementwise kernels before it; one with a scale per block is
  /// launched alone. Its `Kernel::compute` is the format of the result.
  /// Training casts operands itself (`lib/Analysis/ProductFormat.cpp`).
  void castInput(mlir::Operation *op, mlir::Value x, mlir::Value weight);
  /// Lets the last kernel, a matmul, be launched as one with the other matmuls
  /// of its `op` that have the same `key`, wherever they are in the program:
  /// matmuls with one input, or with one sum.
  void mergeBy(mlir::Value key);
  /// Adds the traffic of reading or writing a whole activation, weight or KV
  /// cache to `kernel`.
  void read(program::Kernel &kernel, mlir::Value tensor);
  void write(program::Kernel &kernel, mlir::Value tensor);
  /// Adds traffic of a temporary inside an op, which is not a value of the
  /// program, to `kernel`.
  void move(program::Kernel &kernel, program::Dims shape, ElementType type,
            bool write);
  /// Adds the reads of as many rows of `table` as `rows` counts to `kernel`.
  void gather(program::Kernel &kernel, mlir::Value table, program::Dims rows);
  /// Adds the reads of those experts of `weight` that the `routed` tokens reach
  /// to `kernel`, and marks the weight as one of routed experts.
  void readExperts(program::Kernel &kernel, mlir::Value weight,
                   program::Dims routed, int64_t topK);
  /// States the expert groups from which tokens of the current layer choose
  /// experts.
  void setExpertGroups(program::ExpertGroups groups) {
    program.layers[layer].expertGroups = groups;
  }
  /// Adds a kernel that reads the operands of `op` and writes its results once,
  /// and returns it.
  program::Kernel &addElementwise(mlir::Operation *op);
  /// States that the last kernel, a matmul, computes `value`.
  void makesProduct(mlir::Value value);
  /// States that the last kernel adds `product` to other values and yields
  /// `sum`, if a matmul computed `product`: the matmul may then add by itself.
  void makesSum(mlir::Value product, mlir::Value sum);

  /// Adds a resident tensor (weight, KV cache or state) that holds `value`; a
  /// quantised weight has several.
  void addResident(mlir::Value value, program::Resident resident,
                   WeightUnits units = {});
  /// Adds a collective over `axes` in which each rank has `buffer`.
  void addCollective(mlir::Operation *op, program::CollectiveKind kind,
                     mlir::Value buffer, llvm::ArrayRef<mlir::Attribute> axes);
  /// States the number format in which the last collective sends, and how many
  /// values share a scale (0: there are no scales).
  void sendAs(ElementType format, int64_t block);
  /// States that the last collective sends a token once to each node; `names`
  /// are the axes that share the experts.
  void sendByNode(program::NodeDispatch dispatch,
                  llvm::ArrayRef<mlir::StringAttr> names);
  /// Adds a collective that gathers `result` from `buffer`. A gathered weight
  /// keeps its stored format.
  void addGather(mlir::Operation *op, mlir::Value buffer, mlir::Value result,
                 llvm::ArrayRef<mlir::Attribute> axes);
  /// Adds a collective that passes the parts of a KV cache around a ring, so
  /// that users of `result` see all parts.
  void addRing(mlir::Operation *op, mlir::Value buffer, mlir::Value result,
               llvm::ArrayRef<mlir::Attribute> axes);
  /// Records that `op` makes `result` from `buffer` over `axes`. Returns
  /// whether data move: over one device, the result is the same value.
  bool moves(mlir::Value buffer, mlir::Value result,
             llvm::ArrayRef<mlir::Attribute> axes);
  /// For an attention with result `y` whose keys are split as `context` is:
  /// adds the exchange of one float per token and head, by which the partial
  /// results are weighted before they are summed.
  void exchangeNormalisers(mlir::Operation *op, mlir::Value y,
                           const program::Dim &context);
  //===--------------------------------------------------------------------===//
  // Functions that ops of training call
  //===--------------------------------------------------------------------===//

  /// `save` states that `value` is kept for a backward; `readSaved` states that
  /// `value` is a kept one.
  void save(mlir::Value value, llvm::StringRef name);
  void readSaved(mlir::Value value) { saved.insert(value); }
  /// Adds the reads and writes that `op` makes to the gradient of the tensor
  /// `weight`, which is laid out like `addend`. Adds the gradient itself on
  /// first use.
  void accumulate(mlir::Operation *op, mlir::Value addend, mlir::Value weight);
  /// States that `value` is the gradient of the tensor `weight`.
  void readGradient(mlir::Value value, mlir::Value weight);
  /// Adds a kernel that reads the operands of `op` and the optimizer states of
  /// `weight`, and writes the states and its result.
  void addUpdate(mlir::Operation *op, mlir::Value weight,
                 llvm::ArrayRef<KeptState> states);

  /// If the last dimension of `x` is split, adds an all_reduce of one float per
  /// element of the other dimensions.
  void exchangeOverLast(mlir::Operation *op, mlir::Value x);

  /// Whether the module is a training iteration.
  bool trains() const { return training; }
  /// Adds the kernels that compute something from routed `rows` one operator at
  /// a time, for runtimes in which each expert has a matmul of its own
  /// (`Launching::loopsExperts`).
  void addPasses(mlir::Operation *op, mlir::Value rows, const Passes &passes);

  /// Emits the error that the cost of `op` cannot be counted.
  void refuse(mlir::Operation *op, llvm::StringRef why);

  //===--------------------------------------------------------------------===//
  // Functions that the analysis calls
  //===--------------------------------------------------------------------===//

  /// Sets the place of the next records: the index of their layer kind, and how
  /// often a step runs them. Kernels of different layers are not launched as
  /// one.
  void enter(uint32_t layer, int64_t count);
  /// Sets the axes that have a single device, over which nothing is split.
  void setNeutralAxes(llvm::DenseSet<mlir::StringAttr> axes) {
    neutralAxes = std::move(axes);
  }
  /// Sets whether the module is a training iteration.
  void setTrains(bool value) { training = value; }
  /// Sets which axes split which tokens.
  void setTokenAxes(TokenAxes axes) { tokenAxes = std::move(axes); }
  /// Sets which axes share the placed experts, and returns their ids.
  std::vector<program::AxisId>
  setExpertAxes(llvm::ArrayRef<mlir::Attribute> axes);
  /// Sets the layer kind whose placed experts the next records belong to, if
  /// any; returns the previous one.
  std::optional<uint32_t> setPlaced(std::optional<uint32_t> kind) {
    return std::exchange(placed, kind);
  }
  /// Sets whether experts have a capacity limit.
  void setLimited(bool value) { limited = value; }
  /// States that `alias` (an argument, or a result of a call) is the same value
  /// as `value`.
  void bind(mlir::Value alias, mlir::Value value) {
    aliases[alias] = resolve(value);
  }
  mlir::Value resolve(mlir::Value value) const;
  bool isResident(mlir::Value value) const {
    return residents.count(resolve(value)) || saved.contains(resolve(value));
  }
  /// Returns the dimensions and format of a temporary; several tensors for a
  /// gathered weight that is quantised.
  llvm::SmallVector<program::Activation, 1> activations(mlir::Value value);
  bool refused() const { return anyRefused; }

  /// The kernels and collectives added since the last call of `takeLaunched`:
  /// the first and the last of them, if any.
  struct Launched {
    bool isEmpty = true;
    program::RunEnds ends;
  };
  Launched takeLaunched() { return std::exchange(launched, Launched()); }
  /// Ends a run of kernels: kernels before and after this point are not
  /// launched as one.
  void endRun() { openKind.reset(); }
  /// Returns the number of a value that kernels read or write; 0 if none does.
  uint32_t findNumber(mlir::Value tensor) const {
    return values.lookup({resolve(tensor), 0});
  }

private:
  void addsTo(mlir::Value product, program::Kernel::Epilogue::Kind kind);
  void addCollective(mlir::Operation *op, program::CollectiveKind kind,
                     std::vector<program::AxisId> axes, program::Dims shape,
                     ElementType type);
  /// Returns dimension `index` as a device stores it (`held`), or as an op sees
  /// it.
  program::Dim dim(const TensorView &view, unsigned index, bool held);
  void addDims(program::Dim dim, DimRef ref, program::Dims &dims);
  /// Return dimensions as a device stores them (`held`), or as an op sees them.
  program::Dims dims(mlir::Value tensor, unsigned begin, unsigned end,
                     bool held);
  program::Dims readDims(const TensorView &view, unsigned begin, unsigned end,
                         bool held);
  void seeWindows(program::Extent &extent);
  void shareOut(program::Collective &collective) const;
  program::SymbolId symbol(llvm::StringRef name);
  program::AxisId axis(llvm::StringRef name);
  /// One of the tensors that hold a value: a resident, or a part that was
  /// gathered of a weight.
  struct Part {
    size_t resident;
    program::Dims shape;
  };
  llvm::SmallVector<Part, 1> partsOf(mlir::Value value) const;
  void join(llvm::MutableArrayRef<Part> parts,
            llvm::ArrayRef<mlir::Attribute> names);
  /// Returns the tensors of a value with the shapes that users of the value
  /// see.
  llvm::SmallVector<Part, 1> partsSeen(mlir::Value value) const;
  /// Returns those of the axes `names` that have several devices.
  llvm::SmallVector<mlir::StringAttr, 4>
  splitting(llvm::ArrayRef<mlir::StringAttr> names) const;
  /// Returns the ids of those of the axes `names` that have several devices.
  std::vector<program::AxisId> axes(llvm::ArrayRef<mlir::Attribute> names);
  /// Returns the traffic of the last kernel if it reads or writes a value: one
  /// record, or one for each of the tensors that hold the value, which count as
  /// used from then on.
  llvm::SmallVector<program::Traffic, 1> traffic(mlir::Value tensor,
                                                 bool write);
  uint32_t numberOf(mlir::Value tensor, unsigned part);
  std::string uniqueName(mlir::Operation *op, llvm::StringRef suffix = "");
  program::Kernel &addKernel(std::string name, mlir::Operation *op,
                             program::KernelKind kind, mlir::Value input);
  void extend(std::optional<uint32_t> run);
  uint32_t nextGroup(program::KernelKind kind, mlir::Operation *op,
                     mlir::Value input);

  program::CostProgram &program;
  llvm::DenseSet<mlir::StringAttr> neutralAxes;
  TokenAxes tokenAxes;
  llvm::SmallVector<mlir::StringAttr> expertAxes;
  std::optional<uint32_t> placed;
  bool training = false, limited = false;
  uint32_t layer = 0;
  int64_t count = 1;
  struct ShapeHash {
    size_t operator()(const program::Dims &dims) const;
  };
  /// The distinct shapes of all records; equal shapes share memory.
  std::unordered_set<program::Dims, ShapeHash> shapes;
  /// Cache of the dimensions that a type yields if no experts are placed or
  /// limited, by type, first dimension, end dimension, and whether a device
  /// stores it.
  llvm::DenseMap<std::tuple<mlir::Type, unsigned, unsigned, unsigned>,
                 program::Dims>
      knownDims;
  llvm::DenseMap<mlir::Value, mlir::Value> aliases;
  /// The indices of the residents that hold a value.
  llvm::DenseMap<mlir::Value, llvm::SmallVector<size_t, 1>> residents;
  /// The values that forwards have saved.
  llvm::DenseSet<mlir::Value> saved;
  /// The index of the gradient record of each weight value.
  llvm::DenseMap<mlir::Value, size_t> gradients;
  /// The tensors from which a gathered weight was made.
  llvm::DenseMap<mlir::Value, llvm::SmallVector<Part, 1>> gathered;
  /// The indices of the collectives that gathered a weight.
  llvm::DenseMap<mlir::Value, llvm::SmallVector<size_t, 1>> gathers;
  /// The tensors that users see of a KV cache that is passed around a ring.
  llvm::DenseMap<mlir::Value, llvm::SmallVector<Part, 1>> turned;
  /// The number formats for matmuls with a weight, if its storage format states
  /// them.
  llvm::DenseMap<mlir::Value, WeightUnits> units;
  /// Inputs of products that were cast, with the format of the cast.
  llvm::DenseSet<std::pair<mlir::Value, unsigned>> casts;
  /// The number of each value that kernels read or write, by value and tensor.
  llvm::DenseMap<std::pair<mlir::Value, unsigned>, uint32_t> values;
  /// How often each name has been used for a record.
  llvm::StringMap<unsigned> names;
  /// `productGroups`: the launch groups of matmuls that may be anywhere in the
  /// program, by key and op name. `products`: the kernels of matmuls to whose
  /// results other values are added.
  llvm::DenseMap<mlir::Value, llvm::StringMap<uint32_t>> productGroups;
  llvm::DenseMap<mlir::Value, uint32_t> products;
  /// The launch group that the next kernel may join: its kind of kernel, its op
  /// name and its input.
  std::optional<program::KernelKind> openKind;
  llvm::StringRef openOp;
  mlir::Value openInput;
  uint32_t groups = 0;
  Launched launched;
  bool anyRefused = false;
};

} // namespace autopar

#endif // AUTOPAR_INTERFACES_WORKLOADBUILDER_H
