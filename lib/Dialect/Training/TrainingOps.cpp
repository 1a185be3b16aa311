//===- TrainingOps.cpp - What is saved, added up, updated -----------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Dialect/Training/Training.h"

#include "autopar/Interfaces/ModuleOps.h"
#include "autopar/Interfaces/WorkloadBuilder.h"

using namespace autopar;
using namespace autopar::program;
using namespace autopar::training;
using namespace autopar::transformer;
using namespace mlir;

//===----------------------------------------------------------------------===//
// Which function and layer an op belongs to
//===----------------------------------------------------------------------===//

bool training::areSameTensor(WeightOp a, WeightOp b) {
  return a.getNameAttr() == b.getNameAttr() &&
         a.getStorageAttr() == b.getStorageAttr();
}

static FunctionOpInterface wholeOf(Operation *op) {
  return findWhole(op->getParentOfType<FunctionOpInterface>());
}

SaveOp training::findSave(SavedOp saved) {
  SaveOp found;
  wholeOf(saved).walk([&](SaveOp op) {
    if (op.getNameAttr() != saved.getNameAttr())
      return WalkResult::advance();
    found = op;
    return WalkResult::interrupt();
  });
  return found;
}

AccumulateOp training::findAccumulate(GradientOp gradient) {
  WeightOp weight = findWeight(gradient.getWeight());
  FunctionOpInterface whole = wholeOf(gradient);
  AccumulateOp found;
  auto isIt = [&](AccumulateOp op) {
    WeightOp other = findWeight(op.getWeight());
    return weight && other && areSameTensor(weight, other);
  };
  for (auto function :
       gradient->getParentOfType<ModuleOp>().getOps<FunctionOpInterface>()) {
    if (found || findWhole(function) != whole)
      continue;
    function.walk([&](AccumulateOp op) {
      if (!found && isIt(op))
        found = op;
    });
  }
  return found;
}

//===----------------------------------------------------------------------===//
// The op IterationOp
//===----------------------------------------------------------------------===//

SmallVector<std::pair<FunctionOpInterface, Section>, 2>
IterationOp::getSections() {
  auto find = [&](FlatSymbolRefAttr name) {
    return SymbolTable::lookupNearestSymbolFrom<FunctionOpInterface>(*this,
                                                                     name);
  };
  return {{find(getBackwardAttr()), Section::backward},
          {find(getUpdateAttr()), Section::optimizer}};
}

LogicalResult IterationOp::verifySymbolUses(SymbolTableCollection &symbols) {
  if (failed(verifyOnlyOne<StepSectionsOpInterface>(*this, "training")))
    return failure();
  auto module = cast<ModuleOp>((*this)->getParentOp());
  FunctionOpInterface forward;
  for (auto function : module.getOps<FunctionOpInterface>())
    if (function.isPublic() && !function.isDeclaration())
      forward = function;
  auto verify = [&](FlatSymbolRefAttr name,
                    ArrayRef<Type> arguments) -> LogicalResult {
    auto function = symbols.lookupSymbolIn<FunctionOpInterface>(module, name);
    if (!function || !function.isPrivate() || function.isDeclaration())
      return emitOpError() << "names " << name
                           << ", expected a private function with a body";
    if (function.getArgumentTypes() != arguments ||
        !function.getResultTypes().empty())
      return emitOpError() << "names " << name << ", which takes or returns "
                           << "other values than expected";
    return success();
  };
  ArrayRef<Type> inputs =
      forward ? forward.getArgumentTypes() : ArrayRef<Type>();
  return failure(failed(verify(getBackwardAttr(), inputs)) ||
                 failed(verify(getUpdateAttr(), {})));
}

static LogicalResult verifyCapacity(IterationOp op) {
  if (!op.getCapacity())
    return op.getPadded() ? op.emitOpError("is padded to no capacity")
                          : success();
  double factor = op.getCapacity()->convertToDouble();
  if (factor >= ExpertCapacity::least && factor <= ExpertCapacity::most)
    return success();
  return op.emitOpError() << "has capacity " << factor << ", expected "
                          << "0.000001 to 1000";
}

LogicalResult IterationOp::verify() {
  if (failed(verifyCapacity(*this)))
    return failure();
  size_t tried = getTried() ? getTried()->size() : 0;
  size_t missing = getMissing() ? getMissing()->size() : 0;
  if (tried == missing)
    return success();
  return emitOpError() << "has " << missing << " numbers of missing bytes for "
                       << tried << " forms that were tried";
}

void IterationOp::readTexts() {
  auto upgrade = [&](Attribute attr) -> Attribute {
    if (auto text = dyn_cast_if_present<StringAttr>(attr))
      if (auto read = Recomputation::parse(text.getValue()))
        return RecomputationAttr::get(getContext(), *read);
    return attr;
  };
  Properties &own = getProperties();
  own.recompute = upgrade(own.recompute);
  if (own.tried)
    own.tried = ArrayAttr::get(
        getContext(), llvm::map_to_vector(own.tried.getValue(), upgrade));
}

//===----------------------------------------------------------------------===//
// The op MicrobatchesOp
//===----------------------------------------------------------------------===//

LogicalResult MicrobatchesOp::verify() {
  if (getSchedule() == schedule::ScheduleKind::interleaved)
    return emitOpError("is interleaved, and has one stage");
  return failure(
      failed(parallel::verifyMicrobatches(*this)) ||
      failed(verifyAssumed(*this, getAssumed(), {"schedule", "microbatches"})));
}

//===----------------------------------------------------------------------===//
// The ops SaveOp and SavedOp
//===----------------------------------------------------------------------===//

static LogicalResult refuseOutsideFunction(Operation *op) {
  return op->emitOpError("lies outside of a function, expected it in the "
                         "forward or the backward of a layer");
}

/// Emits an error if two saved values of `function` have the same name.
static LogicalResult verifyNames(FunctionOpInterface function) {
  llvm::DenseMap<StringAttr, SaveOp> firsts;
  LogicalResult result = success();
  forEachIn<SaveOp>(function, [&](SaveOp save) {
    auto [first, isNew] = firsts.try_emplace(save.getNameAttr(), save);
    if (isNew || failed(result))
      return;
    InFlightDiagnostic diag = save.emitOpError()
                              << "is a second one of \"" << save.getName()
                              << "\" in its function";
    diag.attachNote(first->second.getLoc()) << "the first is here";
    result = diag;
  });
  return result;
}

LogicalResult SaveOp::verify() {
  FunctionOpInterface function = findFunctionAround(*this);
  if (!function)
    return refuseOutsideFunction(*this);
  return isLastIn(function, *this, llvm::IsaPred<SaveOp>)
             ? verifyNames(function)
             : success();
}

void SaveOp::buildWorkload(WorkloadBuilder &builder) {
  builder.save(getValue(), getName());
}

void SavedOp::getAsmResultNames(OpAsmSetValueNameFn setNameFn) {
  setNameFn(getResult(), getName());
}

/// The ops that save values, by function and name.
using Saves = llvm::DenseMap<std::pair<Operation *, StringAttr>, SaveOp>;

static LogicalResult verifySaved(SavedOp saved, const Saves &saves,
                                 SymbolTableCollection &symbols) {
  FunctionOpInterface function = findFunctionAround(saved);
  if (!function)
    return refuseOutsideFunction(saved);
  // `findWhole` would search the whole module for each op, so its result is
  // looked up in the symbol table here.
  FunctionOpInterface whole = function;
  if (auto name = function->getAttrOfType<FlatSymbolRefAttr>(partOfAttribute))
    if (auto found = symbols.lookupNearestSymbolFrom<FunctionOpInterface>(
            function, name))
      whole = found;
  SaveOp save = saves.lookup({whole, saved.getNameAttr()});
  if (!save)
    return saved.emitOpError() << "reads \"" << saved.getName() << "\", which @"
                               << whole.getName() << " does not save";
  if (save.getValue().getType() == saved.getType())
    return success();
  InFlightDiagnostic diag = saved.emitOpError()
                            << "reads \"" << saved.getName()
                            << "\" as another type than saved";
  diag.attachNote(save.getLoc())
      << "saved here as " << save.getValue().getType();
  return diag;
}

/// The last `saved` op verifies all such ops of the module.
LogicalResult SavedOp::verifySymbolUses(SymbolTableCollection &symbols) {
  Operation *module = SymbolTable::getNearestSymbolTable(*this);
  if (!isLastIn(module, *this, llvm::IsaPred<SavedOp>))
    return success();
  Saves saves;
  forEachIn<SaveOp>(module, [&](SaveOp save) {
    saves.try_emplace({findFunctionAround(save), save.getNameAttr()}, save);
  });
  LogicalResult result = success();
  forEachIn<SavedOp>(module, [&](SavedOp saved) {
    if (succeeded(result))
      result = verifySaved(saved, saves, symbols);
  });
  return result;
}

/// Reading a saved value costs nothing: it stays in memory where the forward
/// left it.
void SavedOp::buildWorkload(WorkloadBuilder &builder) {
  builder.readSaved(getResult());
}

//===----------------------------------------------------------------------===//
// The ops AccumulateOp and GradientOp
//===----------------------------------------------------------------------===//

/// Verifies that a gradient belongs to a weight, and has its shape.
static LogicalResult verifyOfWeight(Operation *op, Value gradient,
                                    Value weight) {
  if (!findWeight(weight))
    return op->emitOpError("is of no transformer.weight");
  if (tensorOf(gradient.getType()).getShape() ==
      tensorOf(weight.getType()).getShape())
    return success();
  return op->emitOpError("has a gradient of another shape than the weight");
}

LogicalResult AccumulateOp::verify() {
  return verifyOfWeight(*this, getGradient(), getWeight());
}

/// The matmul has written its result, so that the stored gradient is read,
/// added and written.
void AccumulateOp::buildWorkload(WorkloadBuilder &builder) {
  builder.accumulate(*this, getGradient(), findWeight(getWeight()));
}

void GradientOp::getAsmResultNames(OpAsmSetValueNameFn setNameFn) {
  setNameFn(getResult(), "gradient");
}

LogicalResult GradientOp::verify() {
  return verifyOfWeight(*this, getResult(), getWeight());
}

void GradientOp::buildWorkload(WorkloadBuilder &builder) {
  builder.readGradient(getResult(), findWeight(getWeight()));
}

//===----------------------------------------------------------------------===//
// The op ZerosOp
//===----------------------------------------------------------------------===//

void ZerosOp::getAsmResultNames(OpAsmSetValueNameFn setNameFn) {
  setNameFn(getResult(), "zeros");
}

void ZerosOp::buildWorkload(WorkloadBuilder &builder) {
  Kernel &kernel = builder.addKernel(*this, KernelKind::elementwise);
  builder.write(kernel, getResult());
}
