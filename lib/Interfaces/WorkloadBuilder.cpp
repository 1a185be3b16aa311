//===- WorkloadBuilder.cpp ------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Interfaces/WorkloadBuilder.h"

#include "mlir/IR/OpImplementation.h"

using namespace autopar;
using namespace mlir;

//===----------------------------------------------------------------------===//
// Dimensions
//===----------------------------------------------------------------------===//

/// Index of `name` in `names`, adding it at the end where it is new.
static uint16_t intern(std::vector<std::string> &names, StringRef name) {
  auto it = llvm::find(names, name);
  if (it == names.end())
    it = names.insert(it, name.str());
  return it - names.begin();
}

SymbolId WorkloadBuilder::symbol(StringRef name) {
  return intern(program.symbols, name);
}

AxisId WorkloadBuilder::axis(StringRef name) {
  return intern(program.axes, name);
}

Dim WorkloadBuilder::dim(const TensorView &view, unsigned index) {
  DimRef ref = view.dim(index);
  Dim dim;
  dim.rule = ref.rule;
  dim.multiple = ref.multiple;
  for (StringAttr name : ref.axes)
    dim.axes.push_back(axis(name));
  if (ref.extent.empty()) {
    dim.extent.factor = view.getType().getDimSize(index);
    return dim;
  }
  // The encoding was verified: its extents are well-formed.
  ExtentProduct product = *parseExtent(ref.extent);
  dim.extent.factor = product.factor;
  for (StringRef name : product.symbols)
    dim.extent.symbols.push_back(symbol(name));
  return dim;
}

Dims WorkloadBuilder::dims(Value tensor, unsigned begin, unsigned end) {
  TensorView view(tensor);
  Dims dims;
  for (unsigned i = begin; i < end; ++i)
    dims.push_back(dim(view, i));
  return dims;
}

Dims WorkloadBuilder::dims(Value tensor) {
  return dims(tensor, 0, TensorView(tensor).rank());
}

ElementType WorkloadBuilder::formatOf(Value tensor) {
  return *toElementType(TensorView(tensor).getType().getElementType());
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// The name an op's result prints with, else its mnemonic.
static std::string suggestedName(Operation *op) {
  std::string name;
  if (auto asmOp = dyn_cast<OpAsmOpInterface>(op))
    asmOp.getAsmResultNames(
        [&](Value, StringRef suggested) { name = suggested.str(); });
  return name.empty() ? op->getName().stripDialect().str() : name;
}

std::string WorkloadBuilder::uniqueName(Operation *op) {
  std::string base = program.layers[layer].name + "/" + suggestedName(op);
  unsigned number = ++names[base];
  return number == 1 ? base : base + "#" + std::to_string(number);
}

static bool isMergedByInput(KernelKind kind) {
  return kind == KernelKind::matmul || kind == KernelKind::grouped_matmul;
}

uint32_t WorkloadBuilder::nextGroup(KernelKind kind, Operation *op,
                                    Value input) {
  StringRef name = op->getName().getStringRef();
  input = input ? resolve(input) : Value();
  bool joins = openKind == kind &&
               (kind == KernelKind::elementwise ||
                (kind == KernelKind::scan && name == openOp) ||
                (isMergedByInput(kind) && input && input == openInput));
  openKind = kind;
  openOp = name;
  openInput = input;
  return joins ? groups - 1 : groups++;
}

Kernel &WorkloadBuilder::addKernel(Operation *op, KernelKind kind,
                                   Value input) {
  Kernel &kernel = program.kernels.emplace_back();
  kernel.name = uniqueName(op);
  kernel.op = op->getName().stripDialect().str();
  kernel.layer = layer;
  kernel.count = count;
  kernel.kind = kind;
  kernel.compute = formatOf(input ? input : op->getResult(0));
  kernel.fusionGroup = nextGroup(kind, op, input);
  return kernel;
}

static Traffic::Role roleOf(Resident::Kind kind) {
  switch (kind) {
  case Resident::Kind::weight:
    return Traffic::Role::weight;
  case Resident::Kind::kv_cache:
    return Traffic::Role::kv_cache;
  case Resident::Kind::state:
    return Traffic::Role::state;
  }
  llvm_unreachable("covered switch");
}

Traffic WorkloadBuilder::traffic(Value tensor, bool write) {
  Traffic traffic;
  traffic.write = write;
  traffic.value =
      values.try_emplace(resolve(tensor), values.size() + 1).first->second;
  traffic.shape = dims(tensor);
  traffic.type = formatOf(tensor);
  auto it = residents.find(resolve(tensor));
  if (it != residents.end()) {
    const Resident &resident = program.residents[it->second];
    traffic.role = roleOf(resident.kind);
    traffic.shape = resident.shape;
    traffic.type = resident.type;
  }
  return traffic;
}

void WorkloadBuilder::read(Kernel &kernel, Value tensor) {
  kernel.traffic.push_back(traffic(tensor, /*write=*/false));
}

void WorkloadBuilder::write(Kernel &kernel, Value tensor) {
  kernel.traffic.push_back(traffic(tensor, /*write=*/true));
}

void WorkloadBuilder::gather(Kernel &kernel, Value table, Value rows) {
  Traffic read = traffic(table, /*write=*/false);
  read.value = 0;
  read.role = Traffic::Role::activation;
  read.shape = dims(rows);
  read.shape.push_back(dim(TensorView(table), 1));
  kernel.traffic.push_back(std::move(read));
}

void WorkloadBuilder::readExperts(Kernel &kernel, Value weight, Value routed,
                                  int64_t topK) {
  Traffic read = traffic(weight, /*write=*/false);
  read.topK = topK;
  read.rows = dims(routed, 0, 1);
  kernel.traffic.push_back(std::move(read));
  auto it = residents.find(resolve(weight));
  if (it != residents.end())
    program.residents[it->second].topK = topK;
}

/// Whether a tensor is a set of routed tokens.
static bool isRouted(Value tensor) {
  return TensorView(tensor).dim(0).extent.starts_with("{");
}

void WorkloadBuilder::addElementwise(Operation *op) {
  Kernel &kernel = addKernel(op, KernelKind::elementwise);
  kernel.routed = llvm::any_of(op->getOperands(), isRouted) ||
                  llvm::any_of(op->getResults(), isRouted);
  for (Value operand : op->getOperands())
    read(kernel, operand);
  for (Value result : op->getResults())
    write(kernel, result);
}

//===----------------------------------------------------------------------===//
// Residents and collectives
//===----------------------------------------------------------------------===//

void WorkloadBuilder::addResident(Value value, Resident resident) {
  resident.layer = layer;
  resident.count = count;
  residents[value] = program.residents.size();
  program.residents.push_back(std::move(resident));
}

void WorkloadBuilder::addCollective(Operation *op, CollectiveKind kind,
                                    Value operand, ArrayRef<Attribute> axes) {
  Collective &collective = program.collectives.emplace_back();
  collective.name = uniqueName(op);
  collective.kind = kind;
  collective.layer = layer;
  collective.count = count;
  for (Attribute name : axes)
    collective.axes.push_back(axis(cast<StringAttr>(name).getValue()));
  collective.shape = dims(operand);
  collective.type = formatOf(operand);
  openKind.reset();
}

void WorkloadBuilder::refuse(Operation *op, StringRef why) {
  op->emitOpError(why);
  anyRefused = true;
}

//===----------------------------------------------------------------------===//
// Position
//===----------------------------------------------------------------------===//

void WorkloadBuilder::enter(uint32_t newLayer, int64_t newCount) {
  if (layer != newLayer || count != newCount)
    openKind.reset();
  layer = newLayer;
  count = newCount;
}

Value WorkloadBuilder::resolve(Value value) const {
  auto it = aliases.find(value);
  return it == aliases.end() ? value : it->second;
}

Activation WorkloadBuilder::activation(Value value) {
  Activation activation;
  Operation *op = value.getDefiningOp();
  activation.name = op ? suggestedName(op) : "argument";
  activation.layer = layer;
  activation.shape = dims(value);
  activation.type = formatOf(value);
  return activation;
}
