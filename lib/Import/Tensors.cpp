//===- Tensors.cpp --------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Import/Tensors.h"

#include "autopar/Support/Checked.h"
#include "autopar/Support/Limits.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace autopar;
using namespace autopar::importer;
using namespace autopar::transformer;
using namespace mlir;

namespace {

/// Visits the checkpoint tensors of all layers, in execution order.
class TensorWalk {
public:
  using Visit = llvm::function_ref<void(StringRef, const StoredTensor &)>;

  explicit TensorWalk(Visit visit) : visit(visit) {}

  LogicalResult walk(func::FuncOp func, const std::string &prefix) {
    return walk(func.getBody().front(), prefix);
  }

private:
  LogicalResult walk(Block &block, const std::string &prefix) {
    for (Operation &op : block)
      if (failed(walk(op, prefix)))
        return failure();
    return success();
  }

  LogicalResult walk(Operation &op, const std::string &prefix) {
    if (auto weight = dyn_cast<WeightOp>(op))
      return visitWeight(weight, prefix);
    if (auto repeat = dyn_cast<RepeatOp>(op))
      return walkRepeat(repeat, prefix);
    auto call = dyn_cast<CallOpInterface>(op);
    if (!call)
      return success();
    auto callee =
        dyn_cast_or_null<func::FuncOp>(call.resolveCallableInTable(&symbols));
    if (!callee || callee.isDeclaration())
      return op.emitOpError("calls a function that has no body");
    if (active.size() > limits::maxCallDepth)
      return op.emitOpError() << "is in a chain of more than "
                              << limits::maxCallDepth << " calls";
    if (!active.insert(callee).second)
      return op.emitOpError("calls itself");
    LogicalResult result = walkCallee(callee, prefix);
    active.erase(callee);
    return result;
  }

  /// A call in a repeat of layers is the next layer; the callee's own calls are
  /// parts of that layer.
  LogicalResult walkCallee(func::FuncOp callee, const std::string &prefix) {
    if (layers.empty())
      return walk(callee, prefix);
    std::string layer = layers.str() + "." + std::to_string(number++) + ".";
    llvm::SaveAndRestore<StringRef> inside(layers, StringRef());
    llvm::SaveAndRestore<int64_t> next(number);
    llvm::SaveAndRestore<std::string> named(iteration, "");
    return walk(callee, layer);
  }

  LogicalResult walkRepeat(RepeatOp repeat, const std::string &prefix) {
    StringRef outer = layers;
    if (repeat.getPrefix()) {
      layers = *repeat.getPrefix();
      number = repeat.getFirst();
    }
    uint64_t own = ++repeats;
    for (uint64_t i = 0; i < repeat.getCount(); ++i) {
      llvm::SaveAndRestore<std::string> inside(
          iteration,
          iteration + "/" + std::to_string(own) + "." + std::to_string(i));
      if (failed(walk(repeat.getBody().front(), prefix)))
        return failure();
    }
    layers = outer;
    return success();
  }

  LogicalResult visitWeight(WeightOp weight, const std::string &prefix) {
    auto [first, isNew] = tensors.try_emplace(
        iteration + " " + prefix + weight.getName().str(), weight);
    // Weights of a function that is called again outside of layers were visited
    // before.
    if (!isNew && first->second != weight)
      return verifySameTensor(weight, first->second);
    SmallVector<StoredTensor> tensors = getStoredTensors(weight);
    visited += tensors.size() * tensors.front().copies;
    if (visited > limits::maxListedTensors)
      return weight.emitOpError()
             << "is one of more than " << limits::maxListedTensors
             << " tensors, too many to list";
    for (const StoredTensor &tensor : tensors)
      visitTensor(tensor, prefix);
    return success();
  }

  void visitTensor(const StoredTensor &tensor, const std::string &prefix) {
    std::string name = prefix + tensor.name;
    size_t star = name.find('*', prefix.size());
    if (star == std::string::npos)
      return visit(name, tensor);
    for (int64_t i = 0; i < tensor.copies; ++i)
      visit(name.substr(0, star) + std::to_string(i) + name.substr(star + 1),
            tensor);
  }

  SymbolTableCollection symbols;
  Visit visit;
  /// For each tensor name, the weight that it belongs to, or the first of
  /// several parts.
  llvm::StringMap<WeightOp> tensors;
  /// The path of the repeats around this place and their iterations, as
  /// "/2.0/5.1" (empty in a layer), below which a weight exists once per
  /// iteration; and the number of repeats entered so far.
  std::string iteration;
  uint64_t repeats = 0;
  StringRef layers;
  int64_t number = 0;
  uint64_t visited = 0;
  llvm::SmallPtrSet<Operation *, 4> active;
};

} // namespace

LogicalResult autopar::importer::forEachTensor(
    ModuleOp module,
    llvm::function_ref<void(StringRef, const StoredTensor &)> visit) {
  auto functions = module.getOps<func::FuncOp>();
  auto model = llvm::find_if(functions, [](func::FuncOp func) {
    return func.isPublic() && !func.isDeclaration();
  });
  if (model == functions.end())
    return module.emitError("the module has no public function to start from");
  TensorWalk walk(visit);
  if (failed(walk.walk(*model, "")))
    return failure();
  for (FunctionOpInterface stored : findStoredFunctions(module))
    if (failed(walk.walk(cast<func::FuncOp>(*stored), "")))
      return failure();
  return success();
}

LogicalResult autopar::importer::listTensors(ModuleOp module,
                                             llvm::raw_ostream &os) {
  return forEachTensor(module, [&](StringRef name, const StoredTensor &tensor) {
    Checked elements = 1;
    os << name << "\t[";
    llvm::interleaveComma(tensor.shape, os, [&](int64_t size) {
      os << size;
      elements *= size;
    });
    os << "]\t" << llvm::StringRef(safetensorsNameOf(tensor.type)) << "\t"
       << ceilDiv(elements * bitsOf(tensor.type), 8).str() << "\n";
  });
}
