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

/// What products with a weight multiply, and `Kernel::storage`.
struct WeightUnits {
  std::optional<ElementType> compute = std::nullopt, storage = std::nullopt;
};

/// Numbers that an optimizer keeps of a weight, with one f32 scale for each
/// `block` of them, where that is not 0.
struct KeptState {
  program::Dims shape;
  ElementType type = ElementType::f32;
  int64_t block = 0;
  /// A copy of the weight.
  bool isMaster = false;
};

/// How often values are read and written, in their own format and in fp32.
struct Passes {
  int reads = 0, writes = 0, floatReads = 0, floatWrites = 0;
};

/// What ops build their records with. The analysis walks the program, says
/// where it is (`enter`, `bind`), and ops add records through the helpers.
class WorkloadBuilder {
public:
  explicit WorkloadBuilder(program::CostProgram &program) : program(program) {}

  //===--------------------------------------------------------------------===//
  // For ops
  //===--------------------------------------------------------------------===//

  /// Dimensions `[begin, end)` of a tensor; all of them. What goes around a
  /// ring is whole to the op that sees it.
  program::Dims dims(mlir::Value tensor, unsigned begin, unsigned end);
  program::Dims dims(mlir::Value tensor);
  ElementType formatOf(mlir::Value tensor);

  /// A new kernel of `op`. Kernels that share `input` may be merged. The
  /// reference is valid until the next call.
  program::Kernel &addKernel(mlir::Operation *op, program::KernelKind kind,
                             mlir::Value input = {});
  /// A kernel of 2*rows*columns*contraction FLOPs, of which the op fills in the
  /// dimensions.
  program::Kernel &addProduct(mlir::Operation *op, program::KernelKind kind,
                              program::FlopClass flopClass, mlir::Value input);
  /// Lets the last kernel, a product, be launched as one with the others of
  /// its `op` and the same `key`, wherever they are: products of one input, or
  /// with one sum.
  void mergeBy(mlir::Value key);
  /// Traffic of a whole activation, weight or cache.
  void read(program::Kernel &kernel, mlir::Value tensor);
  void write(program::Kernel &kernel, mlir::Value tensor);
  /// Traffic of a temporary inside an op, which no value of the program is.
  void move(program::Kernel &kernel, program::Dims shape, ElementType type,
            bool write);
  /// Reads of as many rows of a table as `rows` counts.
  void gather(program::Kernel &kernel, mlir::Value table, program::Dims rows);
  /// Reads of the experts that `routed` tokens reach; marks the weight as
  /// routed.
  void readExperts(program::Kernel &kernel, mlir::Value weight,
                   program::Dims routed, int64_t topK);
  /// Says that tokens choose experts of `groups` here.
  void setExpertGroups(program::ExpertGroups groups) {
    program.layers[layer].expertGroups = groups;
  }
  /// A kernel that reads its operands and writes its results once.
  program::Kernel &addElementwise(mlir::Operation *op);
  /// Says that the last kernel, a product, makes `value`.
  void makesProduct(mlir::Value value);
  /// Says that the last kernel makes `sum` of `product` and others, where a
  /// product made that.
  void makesSum(mlir::Value product, mlir::Value sum);

  /// Adds a tensor that holds `value`, one of several where it is a weight of a
  /// format.
  void addResident(mlir::Value value, program::Resident resident,
                   WeightUnits units = {});
  /// A collective over `axes` in which each rank has `buffer`.
  void addCollective(mlir::Operation *op, program::CollectiveKind kind,
                     mlir::Value buffer, llvm::ArrayRef<mlir::Attribute> axes);
  /// Says in which format the last one sends, and how many values have a scale
  /// (0: none has).
  void sendAs(ElementType format, int64_t block);
  /// Says that the last one sends tokens to each node once, where `names` share
  /// the experts.
  void sendByNode(program::NodeDispatch dispatch,
                  llvm::ArrayRef<mlir::StringAttr> names);
  /// One that makes `result` of `buffer`. What it gathers of a weight is as
  /// that is stored.
  void addGather(mlir::Operation *op, mlir::Value buffer, mlir::Value result,
                 llvm::ArrayRef<mlir::Attribute> axes);
  /// One that passes the parts of a cache around, all of which the users of
  /// `result` see.
  void addRing(mlir::Operation *op, mlir::Value buffer, mlir::Value result,
               llvm::ArrayRef<mlir::Attribute> axes);
  /// Says that `op` makes `result` of `buffer` over `axes`. Returns whether
  /// that takes anything: over one device it is the same value.
  bool moves(mlir::Value buffer, mlir::Value result,
             llvm::ArrayRef<mlir::Attribute> axes);
  /// Where the keys of an attention with result `y` are split as `context` is:
  /// the exchange of a float per token and head, by which its parts are
  /// weighted before they are summed.
  void exchangeNormalisers(mlir::Operation *op, mlir::Value y,
                           const program::Dim &context);
  //===--------------------------------------------------------------------===//
  // For ops of training
  //===--------------------------------------------------------------------===//

  /// Says that `value` is kept for a backward, and that another value is one
  /// that was.
  void save(mlir::Value value, llvm::StringRef name);
  void readSaved(mlir::Value value) { saved.insert(value); }
  /// Adds what `op` reads and writes of the gradient of the tensor `weight`,
  /// which lies as `addend` does, and that gradient where it is not there yet.
  void accumulate(mlir::Operation *op, mlir::Value addend, mlir::Value weight);
  /// Says that `value` is the gradient of the tensor `weight`.
  void readGradient(mlir::Value value, mlir::Value weight);
  /// A kernel that reads operands and what is kept of the tensor `weight`, and
  /// writes that and its result.
  void addUpdate(mlir::Operation *op, mlir::Value weight,
                 llvm::ArrayRef<KeptState> states);

  /// Where the last dimension of `x` is split: an all_reduce of a float for
  /// each of the others.
  void exchangeOverLast(mlir::Operation *op, mlir::Value x);

  /// Whether ops are of an iteration of training.
  bool trains() const { return training; }
  /// Adds what one operator after the other makes of routed `rows` where each
  /// expert has a product of its own (`Launching::loopsExperts`).
  void addPasses(mlir::Operation *op, mlir::Value rows, const Passes &passes);

  /// Says that `op` has no cost that could be counted: emits an error.
  void refuse(mlir::Operation *op, llvm::StringRef why);

  //===--------------------------------------------------------------------===//
  // For the analysis
  //===--------------------------------------------------------------------===//

  /// Where following records belong: index of the layer kind, and how often a
  /// step runs the op. Kernels of different layers do not merge.
  void enter(uint32_t layer, int64_t count);
  /// Says which axes have one device: nothing is split over them.
  void setNeutralAxes(llvm::DenseSet<mlir::StringAttr> axes) {
    neutralAxes = std::move(axes);
  }
  /// Says whether the module is an iteration of training.
  void setTrains(bool value) { training = value; }
  /// Says which axes split which tokens.
  void setTokenAxes(TokenAxes axes) { tokenAxes = std::move(axes); }
  /// Says which axes share the experts that were placed; returns them.
  std::vector<program::AxisId>
  setExpertAxes(llvm::ArrayRef<mlir::Attribute> axes);
  /// Says which layer kind's experts were placed that following records are
  /// about, if any; returns what held before.
  std::optional<uint32_t> setPlaced(std::optional<uint32_t> kind) {
    return std::exchange(placed, kind);
  }
  /// Says whether experts have a capacity.
  void setLimited(bool value) { limited = value; }
  /// Says that `alias` (an argument, a call's result) is `value`.
  void bind(mlir::Value alias, mlir::Value value) {
    aliases[alias] = resolve(value);
  }
  mlir::Value resolve(mlir::Value value) const;
  bool isResident(mlir::Value value) const {
    return residents.count(resolve(value)) || saved.contains(resolve(value));
  }
  /// The dimensions and format of a temporary: of several tensors where it is a
  /// weight of a format, gathered.
  llvm::SmallVector<program::Activation, 1> activations(mlir::Value value);
  bool refused() const { return anyRefused; }

  /// What was launched and sent since the last call: nothing where `isEmpty`,
  /// else what it begins and ends with.
  struct Launched {
    bool isEmpty = true;
    program::RunEnds ends;
  };
  Launched takeLaunched() { return std::exchange(launched, Launched()); }
  /// Kernels before and after this do not merge.
  void endRun() { openKind.reset(); }
  /// The number of a value that kernels read or write; 0 where none does.
  uint32_t findNumber(mlir::Value tensor) const {
    return values.lookup({resolve(tensor), 0});
  }

private:
  void addsTo(mlir::Value product, program::Kernel::Epilogue::Kind kind);
  void addCollective(mlir::Operation *op, program::CollectiveKind kind,
                     std::vector<program::AxisId> axes, program::Dims shape,
                     ElementType type);
  /// Dimension `index` as a device holds it, or as an op sees it.
  program::Dim dim(const TensorView &view, unsigned index, bool held);
  void addDims(program::Dim dim, DimRef ref, program::Dims &dims);
  /// As a device holds them, or as an op sees them.
  program::Dims dims(mlir::Value tensor, unsigned begin, unsigned end,
                     bool held);
  program::Dims readDims(const TensorView &view, unsigned begin, unsigned end,
                         bool held);
  void seeWindows(program::Extent &extent);
  void shareOut(program::Collective &collective) const;
  program::SymbolId symbol(llvm::StringRef name);
  program::AxisId axis(llvm::StringRef name);
  /// The tensors that hold a value: residents, or what is gathered of weights.
  struct Part {
    size_t resident;
    program::Dims shape;
  };
  llvm::SmallVector<Part, 1> partsOf(mlir::Value value) const;
  void join(llvm::MutableArrayRef<Part> parts,
            llvm::ArrayRef<mlir::Attribute> names);
  /// As the users of a value see them.
  llvm::SmallVector<Part, 1> partsSeen(mlir::Value value) const;
  /// Those of `names` that have several devices.
  llvm::SmallVector<mlir::StringAttr, 4>
  splitting(llvm::ArrayRef<mlir::StringAttr> names) const;
  /// The ids of axes that have several devices.
  std::vector<program::AxisId> axes(llvm::ArrayRef<mlir::Attribute> names);
  /// What moves when the last kernel reads or writes a value: one record,
  /// or those of the tensors that hold it, which have a user from now on.
  llvm::SmallVector<program::Traffic, 1> traffic(mlir::Value tensor,
                                                 bool write);
  uint32_t numberOf(mlir::Value tensor, unsigned part);
  std::string uniqueName(mlir::Operation *op);
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
  /// What records have, each once.
  std::unordered_set<program::Dims, ShapeHash> shapes;
  /// What a type says where no experts are placed or limited, by its first
  /// dimension, the one after the last, and whether a device holds it.
  llvm::DenseMap<std::tuple<mlir::Type, unsigned, unsigned, unsigned>,
                 program::Dims>
      knownDims;
  llvm::DenseMap<mlir::Value, mlir::Value> aliases;
  /// The residents that hold a value.
  llvm::DenseMap<mlir::Value, llvm::SmallVector<size_t, 1>> residents;
  /// Values that forwards have kept.
  llvm::DenseSet<mlir::Value> saved;
  /// The gradients of tensors, by value.
  llvm::DenseMap<mlir::Value, size_t> gradients;
  /// What gathered weights are made of.
  llvm::DenseMap<mlir::Value, llvm::SmallVector<Part, 1>> gathered;
  /// The collectives that gather them.
  llvm::DenseMap<mlir::Value, llvm::SmallVector<size_t, 1>> gathers;
  /// What users see of caches that go around.
  llvm::DenseMap<mlir::Value, llvm::SmallVector<Part, 1>> turned;
  /// What products with a weight multiply, where its format says so.
  llvm::DenseMap<mlir::Value, WeightUnits> units;
  /// Numbers of the values that kernels read and write, by tensor.
  llvm::DenseMap<std::pair<mlir::Value, unsigned>, uint32_t> values;
  /// How many records have a name already.
  llvm::StringMap<unsigned> names;
  /// The groups of products that merge wherever they are, by key and op, and
  /// the kernels that make values which others are added to.
  llvm::DenseMap<mlir::Value, llvm::StringMap<uint32_t>> productGroups;
  llvm::DenseMap<mlir::Value, uint32_t> products;
  /// The group that a next kernel may join: what kind, which op (its name) and
  /// which input.
  std::optional<program::KernelKind> openKind;
  llvm::StringRef openOp;
  mlir::Value openInput;
  uint32_t groups = 0;
  Launched launched;
  bool anyRefused = false;
};

} // namespace autopar

#endif // AUTOPAR_INTERFACES_WORKLOADBUILDER_H
