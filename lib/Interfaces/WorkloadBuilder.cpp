//===- WorkloadBuilder.cpp ------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Interfaces/WorkloadBuilder.h"

#include "mlir/IR/OpImplementation.h"

using namespace autopar;
using namespace autopar::program;
using namespace mlir;

//===----------------------------------------------------------------------===//
// Making dimensions
//===----------------------------------------------------------------------===//

/// Returns the index of `name` in `names`; adds it at the end if it is new.
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

SmallVector<StringAttr, 4>
WorkloadBuilder::splitting(ArrayRef<StringAttr> names) const {
  SmallVector<StringAttr, 4> several;
  for (StringAttr name : names)
    if (!neutralAxes.contains(name))
      several.push_back(name);
  return several;
}

std::vector<AxisId> WorkloadBuilder::setExpertAxes(ArrayRef<Attribute> axes) {
  std::vector<AxisId> ids;
  for (Attribute name : axes) {
    expertAxes.push_back(cast<StringAttr>(name));
    ids.push_back(axis(expertAxes.back()));
  }
  return ids;
}

Dim WorkloadBuilder::dim(const TensorView &view, unsigned index, bool held) {
  DimRef ref = view.dim(index);
  if (ref.rule == SplitRule::ring && !held)
    ref.axes = {};
  Dim dim;
  dim.rule = ref.rule;
  dim.multiple = ref.multiple;
  // If experts are placed on a single device, that device may still have slots
  // for copies, so that the axis matters.
  bool hasSlots =
      ref.rule == SplitRule::pad && haveSameAxes(ref.axes, expertAxes);
  for (ArrayRef<StringAttr> names : {ref.axes, ref.grouped})
    for (StringAttr name : names)
      if (hasSlots || !neutralAxes.contains(name))
        dim.axes.push_back(axis(name));
  if (dim.axes.empty() && !ref.isWhole())
    dim.rule = SplitRule::plain;
  if (placed && ref.isSet() && haveSameAxes(ref.grouped, expertAxes))
    dim.sharedBy = placed;
  if (limited && ref.isSet())
    dim.limitedBy = placed.value_or(layer);
  NamedExtent extent = view.extent(index);
  dim.extent.factor = extent.factor();
  for (StringRef name : extent.symbols())
    dim.extent.symbols.push_back(symbol(name));
  return dim;
}

/// Adds `dim` to `dims` or, for a set of routed tokens, the dimensions whose
/// product it is. The rows of a set are on the devices of their tokens, and one
/// device may have all of them.
void WorkloadBuilder::addDims(Dim dim, DimRef ref, Dims &dims) {
  if (!ref.isSet() || !splitting(ref.grouped).empty())
    return dims.push_back(std::move(dim));
  Extent &extent = dim.extent;
  for (auto &[axisName, extents] : tokenAxes) {
    if (neutralAxes.contains(axisName))
      continue;
    AxisId id = axis(axisName);
    auto split = llvm::find(dim.axes, id);
    if (split == dim.axes.end())
      continue;
    dim.axes.erase(split);
    auto isToken = [&, &extents = extents](SymbolId symbol) {
      return llvm::any_of(extents, [&](const NamedExtent &tokens) {
        return tokens.is(program.symbols[symbol]);
      });
    };
    auto own = llvm::find_if(dims, [&](const Dim &other) {
      return other.extent.symbols.size() == 1 && !other.axes.empty() &&
             isToken(other.extent.symbols.front());
    });
    auto inExtent = llvm::find_if(extent.symbols, isToken);
    if (inExtent != extent.symbols.end()) {
      SymbolId tokens = *inExtent;
      extent.symbols.erase(inExtent);
      dims.push_back({{1, {tokens}, 0}, {id}, SplitRule::any, 1});
    } else if (own != dims.end()) {
      own->axes.push_back(id);
    }
  }
  dims.push_back(std::move(dim));
}

Dims WorkloadBuilder::dims(Value tensor, unsigned begin, unsigned end) {
  return dims(tensor, begin, end, /*held=*/false);
}

Dims WorkloadBuilder::dims(Value tensor, unsigned begin, unsigned end,
                           bool held) {
  if (placed || limited)
    return readDims(TensorView(tensor), begin, end, held);
  auto [it, isNew] =
      knownDims.try_emplace({tensor.getType(), begin, end, held});
  if (isNew)
    it->second = readDims(TensorView(tensor), begin, end, held);
  return it->second;
}

size_t WorkloadBuilder::ShapeHash::operator()(const Dims &dims) const {
  llvm::hash_code hash(dims.size());
  for (const Dim &dim : dims)
    hash = llvm::hash_combine(hash, dim.extent.factor,
                              ArrayRef(dim.extent.symbols), ArrayRef(dim.axes));
  return hash;
}

Dims WorkloadBuilder::readDims(const TensorView &view, unsigned begin,
                               unsigned end, bool held) {
  Dims dims;
  for (unsigned i = begin; i < end; ++i)
    addDims(dim(view, i, held), view.dim(i), dims);
  return *shapes.insert(std::move(dims)).first;
}

Dims WorkloadBuilder::dims(Value tensor) {
  return dims(tensor, 0, TensorView(tensor).rank());
}

ElementType WorkloadBuilder::formatOf(Value tensor) {
  return *toElementType(TensorView(tensor).getType().getElementType());
}

//===----------------------------------------------------------------------===//
// Adding kernels
//===----------------------------------------------------------------------===//

/// Returns the name with which an op's result is printed; if there is none, the
/// op's mnemonic.
static std::string suggestedName(Operation *op) {
  std::string name;
  if (auto asmOp = dyn_cast<OpAsmOpInterface>(op))
    asmOp.getAsmResultNames(
        [&](Value, StringRef suggested) { name = suggested.str(); });
  return name.empty() ? op->getName().stripDialect().str() : name;
}

std::string WorkloadBuilder::uniqueName(Operation *op, StringRef suffix) {
  std::string name =
      program.layers[layer].name + "/" + suggestedName(op) + suffix.str();
  if (unsigned number = ++names[name]; number != 1)
    name += "#" + std::to_string(number);
  return name;
}

/// Whether kernels of this kind multiply by a weight, so that those with one
/// input may be launched as one.
static bool isProduct(KernelKind kind) {
  return kind == KernelKind::matmul || kind == KernelKind::grouped_matmul;
}

/// Records a new launch: `run` is the kernel if it is elementwise, else
/// nothing.
void WorkloadBuilder::extend(std::optional<uint32_t> run) {
  if (launched.isEmpty)
    launched.ends.head = run;
  launched.ends.tail = run;
  launched.isEmpty = false;
}

uint32_t WorkloadBuilder::nextGroup(KernelKind kind, Operation *op,
                                    Value input) {
  StringRef name = op->getName().getStringRef();
  input = input ? resolve(input) : Value();
  bool joins =
      openKind == kind && (kind == KernelKind::elementwise ||
                           (kind == KernelKind::scan && name == openOp) ||
                           (isProduct(kind) && input && input == openInput));
  openKind = kind;
  openOp = name;
  openInput = input;
  return joins ? groups - 1 : groups++;
}

Kernel &WorkloadBuilder::addKernel(Operation *op, KernelKind kind,
                                   Value input) {
  return addKernel(uniqueName(op), op, kind, input);
}

Kernel &WorkloadBuilder::addKernel(std::string name, Operation *op,
                                   KernelKind kind, Value input) {
  Kernel &kernel = program.kernels.emplace_back();
  kernel.name = std::move(name);
  kernel.op = op->getName().stripDialect().str();
  kernel.layer = layer;
  kernel.count = count;
  kernel.kind = kind;
  kernel.compute = formatOf(input ? input : op->getResult(0));
  kernel.fusionGroup = nextGroup(kind, op, input);
  extend(kind == KernelKind::elementwise
             ? std::optional<uint32_t>(program.kernels.size() - 1)
             : std::nullopt);
  return kernel;
}

Kernel &WorkloadBuilder::addProduct(Operation *op, KernelKind kind,
                                    FlopClass flopClass, Value input) {
  constexpr int64_t multiplyAndAdd = 2;
  Kernel &kernel = addKernel(op, kind, input);
  kernel.flopClass = flopClass;
  kernel.flopFactor = multiplyAndAdd;
  return kernel;
}

void WorkloadBuilder::castInput(Operation *op, Value x, Value weight) {
  auto used = units.find(resolve(weight));
  if (trains() || used == units.end() || !used->second.compute)
    return;
  x = resolve(x);
  ElementType format = *used->second.compute;
  auto key = static_cast<unsigned>(used->second.storage.value_or(format));
  if (bitsOf(format) >= bitsOf(formatOf(x)) || !casts.insert({x, key}).second)
    return;
  bool isAlone = used->second.storage.has_value();
  Launched before = launched;
  if (isAlone)
    endRun();
  Kernel &kernel =
      addKernel(uniqueName(op, "/quantize"), op, KernelKind::elementwise, x);
  kernel.op = "quantize";
  kernel.compute = format;
  read(kernel, x);
  move(kernel, dims(x), used->second.storage.value_or(format), /*write=*/true);
  if (!isAlone)
    return;
  // No run before or after it goes on in it.
  endRun();
  launched = before;
  extend(std::nullopt);
}

void WorkloadBuilder::mergeBy(Value key) {
  Kernel &kernel = program.kernels.back();
  kernel.fusionGroup = productGroups[resolve(key)]
                           .try_emplace(kernel.op, kernel.fusionGroup)
                           .first->second;
  openKind.reset();
}

void WorkloadBuilder::makesProduct(Value value) {
  products[resolve(value)] = program.kernels.size() - 1;
}

void WorkloadBuilder::addsTo(Value product, Kernel::Epilogue::Kind kind) {
  auto made = products.find(resolve(product));
  if (made != products.end())
    program.kernels.back().epilogue = {kind, made->second};
}

void WorkloadBuilder::makesSum(Value product, Value sum) {
  addsTo(product, Kernel::Epilogue::Kind::sum);
  if (auto &epilogue = program.kernels.back().epilogue)
    products[resolve(sum)] = epilogue->product;
}

uint32_t WorkloadBuilder::numberOf(Value tensor, unsigned part) {
  return values.try_emplace({resolve(tensor), part}, values.size() + 1)
      .first->second;
}

static Traffic::Role roleOf(Resident::Kind kind) {
  switch (kind) {
  case Resident::Kind::weight:
    return Traffic::Role::weight;
  case Resident::Kind::kv_cache:
    return Traffic::Role::kv_cache;
  case Resident::Kind::state:
  case Resident::Kind::gradient:
  case Resident::Kind::optimizer:
    return Traffic::Role::state;
  }
  llvm_unreachable("covered switch");
}

SmallVector<WorkloadBuilder::Part, 1>
WorkloadBuilder::partsOf(Value value) const {
  value = resolve(value);
  auto whole = gathered.find(value);
  if (whole != gathered.end())
    return whole->second;
  SmallVector<Part, 1> parts;
  for (size_t index : residents.lookup(value))
    parts.push_back({index, program.residents[index].shape});
  return parts;
}

SmallVector<WorkloadBuilder::Part, 1>
WorkloadBuilder::partsSeen(Value value) const {
  auto all = turned.find(resolve(value));
  return all == turned.end() ? partsOf(value) : all->second;
}

SmallVector<Traffic, 1> WorkloadBuilder::traffic(Value tensor, bool write) {
  Traffic activation;
  activation.write = write;
  SmallVector<Part, 1> parts = partsSeen(tensor);
  if (parts.empty()) {
    activation.value = numberOf(tensor, 0);
    activation.shape = dims(tensor);
    activation.type = formatOf(tensor);
    SmallVector<Traffic, 1> record;
    record.push_back(std::move(activation));
    return record;
  }
  auto addReader = [this](auto &record) {
    if (record.layer != layer && !llvm::is_contained(record.readers, layer))
      record.readers.push_back(layer);
  };
  for (size_t index : gathers.lookup(resolve(tensor)))
    addReader(program.collectives[index]);
  SmallVector<Traffic, 1> records;
  for (auto [number, part] : llvm::enumerate(parts)) {
    Resident &resident = program.residents[part.resident];
    if (!resident.user)
      resident.user = program.kernels.size() - 1;
    addReader(resident);
    Traffic &record = records.emplace_back(activation);
    record.value = numberOf(tensor, number);
    record.role = roleOf(resident.kind);
    record.shape = std::move(part.shape);
    record.type = resident.type;
  }
  return records;
}

static void append(Kernel &kernel, SmallVector<Traffic, 1> moved) {
  kernel.traffic.insert(kernel.traffic.end(),
                        std::make_move_iterator(moved.begin()),
                        std::make_move_iterator(moved.end()));
}

void WorkloadBuilder::read(Kernel &kernel, Value tensor) {
  append(kernel, traffic(tensor, /*write=*/false));
  auto it = units.find(resolve(tensor));
  if (it == units.end() || !isProduct(kernel.kind))
    return;
  kernel.compute = it->second.compute.value_or(kernel.compute);
  kernel.storage = it->second.storage;
}

void WorkloadBuilder::write(Kernel &kernel, Value tensor) {
  append(kernel, traffic(tensor, /*write=*/true));
}

void WorkloadBuilder::move(Kernel &kernel, Dims shape, ElementType type,
                           bool write) {
  Traffic traffic;
  traffic.write = write;
  traffic.shape = std::move(shape);
  traffic.type = type;
  kernel.traffic.push_back(std::move(traffic));
}

/// Rows of a table are read in the format of its values: formats that pack
/// several values into one are for matrices only.
void WorkloadBuilder::gather(Kernel &kernel, Value table, Dims rows) {
  rows.push_back(dim(TensorView(table), 1, /*held=*/false));
  ElementType type = traffic(table, /*write=*/false).front().type;
  move(kernel, std::move(rows), type, /*write=*/false);
}

void WorkloadBuilder::readExperts(Kernel &kernel, Value weight, Dims routed,
                                  int64_t topK) {
  size_t first = kernel.traffic.size();
  read(kernel, weight);
  int64_t experts = TensorView(weight).getType().getDimSize(0);
  // Tensors of a quantisation format may be laid out differently; these are
  // read as a whole.
  auto countsExperts = [&](const Dims &shape) {
    return !shape.empty() && shape.front().extent.factor == experts;
  };
  // The tokens of all devices that share the experts reach these experts.
  for (Dim &dim : routed) {
    dim.sharedBy.reset();
    dim.limitedBy.reset();
    for (StringAttr name : splitting(TensorView(weight).dim(0).axes))
      llvm::erase(dim.axes, axis(name));
  }
  for (size_t i = first; i < kernel.traffic.size(); ++i)
    if (countsExperts(kernel.traffic[i].shape)) {
      kernel.traffic[i].topK = topK;
      kernel.traffic[i].rows = routed;
    }
  for (const Part &part : partsOf(weight))
    if (countsExperts(program.residents[part.resident].parameters()))
      program.residents[part.resident].topK = topK;
}

/// Whether a tensor is a set of routed tokens.
static bool isRouted(Value tensor) { return TensorView(tensor).isSet(); }

Kernel &WorkloadBuilder::addElementwise(Operation *op) {
  Kernel &kernel = addKernel(op, KernelKind::elementwise);
  kernel.routed = llvm::any_of(op->getOperands(), isRouted) ||
                  llvm::any_of(op->getResults(), isRouted);
  for (Value operand : op->getOperands())
    read(kernel, operand);
  for (Value result : op->getResults())
    write(kernel, result);
  return kernel;
}

//===----------------------------------------------------------------------===//
// Adding weights, caches and states
//===----------------------------------------------------------------------===//

void WorkloadBuilder::addResident(Value value, Resident resident,
                                  WeightUnits used) {
  resident.layer = layer;
  resident.count = count;
  residents[value].push_back(program.residents.size());
  program.residents.push_back(std::move(resident));
  if (used.compute || used.storage)
    units[value] = used;
}

void WorkloadBuilder::refuse(Operation *op, StringRef why) {
  op->emitOpError(why);
  anyRefused = true;
}

//===----------------------------------------------------------------------===//
// The current position in the program
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

SmallVector<Activation, 1> WorkloadBuilder::activations(Value value) {
  Activation activation;
  Operation *op = value.getDefiningOp();
  activation.name = op ? suggestedName(op) : "argument";
  activation.layer = layer;
  SmallVector<Activation, 1> held;
  for (Part &part : partsOf(value)) {
    activation.shape = std::move(part.shape);
    activation.type = program.residents[part.resident].type;
    held.push_back(activation);
  }
  if (!held.empty())
    return held;
  TensorView view(value);
  activation.shape = dims(value, 0, view.rank(), /*held=*/true);
  activation.type = formatOf(value);
  activation.routed = view.isSet();
  held.push_back(std::move(activation));
  return held;
}
