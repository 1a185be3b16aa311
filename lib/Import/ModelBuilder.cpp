//===- ModelBuilder.cpp ---------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ModelBuilder.h"

#include "autopar/Import/Formats.h"
#include "autopar/Interfaces/TensorView.h"

#include "mlir/AsmParser/AsmParser.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace autopar;
using namespace autopar::importer;
using namespace autopar::model;
using namespace autopar::transformer;
using namespace mlir;

ModelBuilder::ModelBuilder(MLIRContext *context, const Model &model)
    : quantization(model.quantization), notes(*model.notes),
      ops(UnknownLoc::get(context), context),
      element(fromElementType(context, model.dtype)) {}

//===----------------------------------------------------------------------===//
// Making types
//===----------------------------------------------------------------------===//

Type ModelBuilder::cacheFormat() const {
  std::optional<ElementType> format = quantization.kvCacheFormat();
  return format ? fromElementType(ops.getContext(), *format) : element;
}

/// The extent that the step's symbols have in the shape of a type until a
/// workload is bound.
static constexpr int64_t symbolic = 1;

Type ModelBuilder::like(Value x, ArrayRef<int64_t> dims, unsigned dropped) {
  TensorView view(x);
  SmallVector<int64_t> shape;
  SmallVector<NamedExtent> names;
  for (int64_t i = 0; i < view.rank() - dropped; ++i) {
    DimRef dim = view.dim(i);
    shape.push_back(view.isSymbolic(i) ? symbolic
                                       : view.getType().getDimSize(i));
    names.push_back(dim.extent);
  }
  shape.append(dims.begin(), dims.end());
  names.append(dims.size(), NamedExtent());
  return getTensorType(shape, names, element);
}

NamedExtent ModelBuilder::symbol(StringRef name) const {
  return NamedExtent::symbol(ops.getContext(), name);
}

RankedTensorType ModelBuilder::tensor(ArrayRef<NamedExtent> symbols,
                                      ArrayRef<int64_t> dims, Type type) const {
  SmallVector<int64_t> shape(symbols.size(), symbolic);
  SmallVector<NamedExtent> names(symbols);
  shape.append(dims.begin(), dims.end());
  names.append(dims.size(), NamedExtent());
  return getTensorType(shape, names, type ? type : element);
}

Type ModelBuilder::tokens(NamedExtent tokens, ArrayRef<int64_t> dims,
                          Type type) {
  return tensor({symbol("batch"), tokens}, dims, type);
}

Type ModelBuilder::routed(Value x, int64_t topK, int64_t width) {
  std::optional<NamedExtent> rows = NamedExtent::product(
      {symbol("batch"), tokensOf(x), NamedExtent::number(topK)});
  return tensor({rows->asSet()}, {width});
}

int64_t ModelBuilder::widthOf(Value x) {
  RankedTensorType type = TensorView(x).getType();
  return type.getDimSize(type.getRank() - 1);
}

NamedExtent ModelBuilder::tokensOf(Value x) { return TensorView(x).extent(1); }

//===----------------------------------------------------------------------===//
// Making weights
//===----------------------------------------------------------------------===//

std::string ModelBuilder::renamed(std::string name) const {
  for (const JsonValue *rename : llvm::reverse(renames))
    for (auto it = rename->begin(); it != rename->end(); ++it)
      if (name.rfind(it.key(), 0) == 0 && it->is_string()) {
        name = it->get<std::string>() + name.substr(it.key().size());
        break;
      }
  return name;
}

WeightOp ModelBuilder::findWeight(StringRef name) {
  for (WeightOp weight :
       frames.front().function.getBody().front().getOps<WeightOp>())
    if (weight.getName() == name)
      return weight;
  return {};
}

Value ModelBuilder::weight(const std::string &name, ArrayRef<int64_t> shape,
                           const std::string &storage, WeightRole role) {
  auto type = RankedTensorType::get(shape, element);
  StorageAttr stored;
  if (!storage.empty())
    stored = llvm::dyn_cast_or_null<StorageAttr>(parseAttribute(
        "#transformer.storage<" + storage + ">", ops.getContext()));
  if (!storage.empty() && !stored && !error)
    error = Error{name, "cannot lie in the checkpoint as " + storage, ""};
  Frame &frame = frames.back();
  // In layers, the checkpoint name is that of the repeat followed by the
  // layer's.
  std::string full = frame.isLayer() ? name : renamed(name);
  if (const Format *format = formatOf(frame.prefix, full, role))
    stored = inFormat(stored, shape, *format);
  // A tensor that several parts of the model share becomes one weight op.
  if (frames.size() == 1)
    if (WeightOp shared = findWeight(full);
        shared && shared.getType() == type &&
        shared.getStorage().value_or(StorageAttr()) == stored)
      return shared;
  OpBuilder::InsertionGuard guard(ops);
  if (frame.lastWeight)
    ops.setInsertionPointAfter(frame.lastWeight);
  else if (frames.size() > 1)
    ops.setInsertionPointToStart(&frame.function.getBody().front());
  auto op = WeightOp::create(ops, type, ops.getStringAttr(full), stored);
  if (role != WeightRole::other)
    frame.quantizable.push_back({op, role});
  dropStoredBias(full);
  if (frames.size() > 1)
    frame.lastWeight = op;
  return op;
}

const Format *ModelBuilder::formatOf(const std::string &prefix, StringRef name,
                                     WeightRole role) {
  if (role == WeightRole::other || quantization.isNone())
    return nullptr;
  name.consume_back(".weight");
  std::string module = prefix + name.str();
  // The format of the first expert is that of all experts.
  if (size_t star = module.find('*'); star != std::string::npos)
    module[star] = '0';
  Result<const Format *> format =
      quantization.formatOf(module, role, !prefix.empty());
  if (format)
    return *format;
  if (!error)
    error = format.error();
  return nullptr;
}

bool ModelBuilder::splitsExperts(const std::string &stem) {
  return quantization.splitsExperts() &&
         formatOf(frames.back().prefix, stem + ".0.down_proj",
                  WeightRole::expert);
}

StorageAttr ModelBuilder::inFormat(StorageAttr storage, ArrayRef<int64_t> shape,
                                   const Format &format) {
  if (!storage) {
    SmallVector<SmallVector<int64_t>> dims;
    for (size_t i = 0; i < shape.size(); ++i)
      dims.push_back({static_cast<int64_t>(i)});
    SmallVector<ArrayRef<int64_t>> groups(dims.begin(), dims.end());
    storage = StorageAttr::get(ops.getContext(), groups);
  }
  Checked row = getStoredPart(storage.getGroups().back(), shape).total;
  const Format &fitting = format.forRows(row.int64().value_or(0));
  FormatAttr &attribute = formats[&fitting];
  if (!attribute)
    attribute = toAttr(ops.getContext(), fitting);
  return storage.withFormat(attribute);
}

void ModelBuilder::storeAsHead(WeightOp table) {
  if (!getFormat(table))
    return;
  if (const Format *format = formatOf("", table.getName(), WeightRole::head))
    table.setStorageAttr(
        inFormat(table.getStorageAttr(),
                 TensorView(table.getResult()).getType().getShape(), *format));
}

void ModelBuilder::dropStoredBias(StringRef name) {
  if (!name.consume_back(".bias"))
    return;
  for (QuantizableWeight &weight : frames.back().quantizable) {
    FormatAttr format = getFormat(weight.op);
    if (!format || weight.op.getName() != (name + ".weight").str())
      continue;
    SmallVector<FormatTensorAttr> tensors(format.getTensors());
    llvm::erase_if(tensors, [](FormatTensorAttr tensor) {
      return tensor.getSuffix() == "bias";
    });
    auto reduced = FormatAttr::get(ops.getContext(), format.getName(),
                                   format.getCompute(), tensors);
    weight.op.setStorageAttr(weight.op.getStorageAttr().withFormat(reduced));
  }
}

Value ModelBuilder::weight(const std::string &name, ArrayRef<int64_t> shape,
                           Type type, const std::string &storage) {
  llvm::SaveAndRestore<Type> other(element, type);
  return weight(name, shape, storage);
}

Value ModelBuilder::linear(Value x, const std::string &stem, int64_t out,
                           bool bias, bool transposed) {
  Value w = weight(stem + ".weight", {widthOf(x), out},
                   transposed ? "" : "[1, 0]", WeightRole::product);
  Value b = bias ? weight(stem + ".bias", {out}) : Value();
  return LinearOp::create(ops, like(x, {out}), x, w, b);
}

//===----------------------------------------------------------------------===//
// Making functions
//===----------------------------------------------------------------------===//

func::FuncOp ModelBuilder::beginFunction(StringRef name, TypeRange inputs,
                                         std::string prefix) {
  unsigned use = ++functionNames[name];
  std::string unique =
      use == 1 ? name.str() : (name + "_" + std::to_string(use)).str();
  OpBuilder::InsertPoint outer = ops.saveInsertionPoint();
  if (!frames.empty())
    ops.setInsertionPoint(frames.front().function);
  auto function =
      func::FuncOp::create(ops, unique, ops.getFunctionType(inputs, {}));
  if (!frames.empty()) {
    function.setPrivate();
    function.setNoInline(true);
  }
  ops.setInsertionPointToStart(function.addEntryBlock());
  frames.push_back({function, outer, std::move(prefix), nullptr, {}});
  return function;
}

void ModelBuilder::endFunction(func::FuncOp function, ValueRange results) {
  func::ReturnOp::create(ops, results);
  function.setType(ops.getFunctionType(function.getBody().getArgumentTypes(),
                                       results.getTypes()));
  ops.restoreInsertionPoint(frames.back().outer);
  frames.pop_back();
}

void ModelBuilder::addStored(func::FuncOp function) {
  OpBuilder::InsertionGuard guard(ops);
  ops.setInsertionPoint(frames.front().function);
  StoredOp::create(ops, function.getSymName());
}

void ModelBuilder::addLayer(func::CallOp call,
                            ArrayRef<QuantizableWeight> weights) {
  frames.back().lastWeight = call;
  llvm::append_range(frames.back().quantizable, weights);
}

Value ModelBuilder::addInput(Type type) {
  auto frame = llvm::find_if(llvm::reverse(frames), [](const Frame &frame) {
    return !frame.isLayer();
  });
  return frame->function.getBody().addArgument(type, ops.getLoc());
}

Value ModelBuilder::findInput(Type type) {
  for (Value input : frames.back().function.getArguments())
    if (input.getType() == type)
      return input;
  return {};
}
