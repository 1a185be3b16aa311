//===- Sharding.cpp -------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Interfaces/Sharding.h"

#include "autopar/Interfaces/Interfaces.h"
#include "autopar/Program/CostProgram.h"
#include "autopar/Support/Limits.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "llvm/ADT/StringExtras.h"

using namespace autopar;
using namespace autopar::placement;
using namespace autopar::program;
using namespace mlir;

#include "autopar/Interfaces/Interfaces.cpp.inc"

std::string autopar::axesText(ArrayRef<StringAttr> axes) {
  std::string text = "[";
  for (StringAttr axis : axes)
    text += (text.size() > 1 ? ", " : "") + axis.getValue().str();
  return text + "]";
}

std::string autopar::splitText(const DimRef &dim) {
  std::string text = dim.extent.str();
  if (dim.axes.empty())
    return text;
  for (auto [i, axis] : llvm::enumerate(dim.axes))
    text += (i ? "*" : " by ") + axis.getValue().str();
  if (dim.rule != defaultRule(dim.extent))
    text += " " + std::string(nameOf(dim.rule));
  return dim.rule == SplitRule::pad ? text + " " + std::to_string(dim.multiple)
                                    : text;
}

template <typename Interface>
static Interface findInModule(Operation *op) {
  auto module = dyn_cast<ModuleOp>(op);
  if (!module)
    module = op->getParentOfType<ModuleOp>();
  if (!module)
    return {};
  auto ops = module.getOps<Interface>();
  return ops.empty() ? Interface() : *ops.begin();
}

DeviceMeshOpInterface autopar::findMesh(Operation *op) {
  return findInModule<DeviceMeshOpInterface>(op);
}

SymbolBindingOpInterface autopar::findWorkload(Operation *op) {
  return findInModule<SymbolBindingOpInterface>(op);
}

TokenAxes autopar::findTokenAxes(ModuleOp module) {
  TokenAxes axes;
  auto collect = [&](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    for (int64_t i = 0; tensor && i < tensor.getRank(); ++i) {
      DimRef dim = TensorView(tensor).dim(i);
      for (StringAttr axis : dim.axes)
        if (dim.extent.isSymbolic() &&
            !llvm::is_contained(axes[axis], dim.extent))
          axes[axis].push_back(dim.extent);
    }
  };
  for (auto function : module.getOps<FunctionOpInterface>())
    llvm::for_each(function.getArgumentTypes(), collect);
  return axes;
}

SmallVector<FunctionOpInterface> autopar::findStoredFunctions(ModuleOp module) {
  SmallVector<FunctionOpInterface> stored;
  for (auto op : module.getOps<StoredFunctionOpInterface>())
    stored.push_back(op.getStoredFunction());
  return stored;
}

FunctionOpInterface autopar::findWhole(FunctionOpInterface function) {
  auto whole = function->getAttrOfType<FlatSymbolRefAttr>(partOfAttribute);
  if (!whole)
    return function;
  auto found = SymbolTable::lookupNearestSymbolFrom<FunctionOpInterface>(
      function, whole);
  return found ? found : function;
}

//===----------------------------------------------------------------------===//
// Verification of encodings against the module around them
//===----------------------------------------------------------------------===//

std::string autopar::productText(DeviceMeshOpInterface mesh,
                                 ArrayRef<StringAttr> axes) {
  SmallVector<StringRef> whole;
  if (mesh)
    whole = mesh.getNamesOf(axes);
  if (!whole.empty())
    return llvm::join(whole, " = ");
  // Writes the product as degrees, the longest first, one after the other.
  SmallVector<StringRef> factors;
  while (!axes.empty()) {
    size_t taken = axes.size();
    SmallVector<StringRef> names;
    for (; taken > 1 && names.empty(); --taken)
      if (mesh)
        names = mesh.getNamesOf(axes.take_front(taken));
    taken += !names.empty();
    factors.push_back(names.empty() ? axes.front().getValue() : names.front());
    axes = axes.drop_front(std::max<size_t>(taken, 1));
  }
  return llvm::join(factors, "*");
}

std::string autopar::dimensionText(Operation *op, unsigned dim) {
  std::string text = "dimension " + std::to_string(dim);
  if (auto weight = op->getAttrOfType<StringAttr>("name"))
    text += " of \"" + weight.str() + "\"";
  return text;
}

bool autopar::maySplit(int64_t extent, SplitRule rule, int64_t devices) {
  if (rule == SplitRule::plain)
    return extent % devices == 0;
  if (rule == SplitRule::cap)
    return extent % devices == 0 || devices % extent == 0;
  return true;
}

std::string autopar::sizesText(function_ref<bool(int64_t)> allowed) {
  constexpr int64_t largest = 1024;
  constexpr unsigned most = 16;
  std::string text;
  unsigned found = 0;
  for (int64_t devices = 1; devices <= largest && found < most; ++devices)
    if (allowed(devices))
      text += (found++ ? ", " : "") + std::to_string(devices);
  return text;
}

namespace {

/// Verifies the types of one op against the mesh and the workload of the module
/// around it.
class EncodingVerifier {
public:
  explicit EncodingVerifier(Operation *op) : op(op) {}

  LogicalResult verify(Type type) {
    RankedTensorType tensor = tensorOf(type);
    if (!tensor)
      return success();
    if (!toElementType(tensor.getElementType()))
      return op->emitOpError()
             << "has elements of type " << tensor.getElementType()
             << ", expected one of f32, bf16, f16, f8E4M3FN, f8E5M2, i32, i8";
    if (tensor.getEncoding() &&
        !isa<DimensionEncodingInterface>(tensor.getEncoding()))
      return op->emitOpError()
             << "has a tensor with the foreign encoding "
             << tensor.getEncoding()
             << ", expected #transformer.dims or #parallel.sharding";
    TensorView view(tensor);
    for (unsigned i = 0; i < view.rank(); ++i)
      if (failed(verifyDim(view, i)))
        return failure();
    for (StringAttr axis : view.partialAxes())
      if (failed(sizeOf(axis)))
        return failure();
    return success();
  }

private:
  LogicalResult verifyDim(const TensorView &view, unsigned index) {
    DimRef dim = view.dim(index);
    if (failed(verifySymbols(dim.extent)))
      return failure();
    if (!dim.extent.isNamed() &&
        (view.getType().isDynamicDim(index) ||
         view.getType().getDimSize(index) < 1 ||
         view.getType().getDimSize(index) > limits::maxDimension))
      return op->emitOpError()
             << "has a tensor dimension of " << view.extentText(index)
             << ", expected 1 to " << limits::maxDimension << " or a symbol";
    bool sized = true;
    int64_t devices = 1;
    if ((dim.isSet() || !dim.isWhole()) && failed(verifySet(view, index)))
      return failure();
    for (StringAttr axis : dim.axes) {
      FailureOr<int64_t> size = sizeOf(axis);
      if (failed(size))
        return failure();
      sized &= *size != 0 && !llvm::MulOverflow(devices, *size, devices);
    }
    if (!sized || dim.extent.isNamed() || dim.axes.empty())
      return success();
    return verifySplit(view, index, devices);
  }

  /// Verifies that the tokens and experts of a set can be split as the set
  /// states.
  LogicalResult verifySet(const TensorView &view, unsigned index) {
    SmallVector<DimRef> home = view.tokens(index);
    if (DimRef experts = view.experts(index); !experts.axes.empty())
      home.push_back(experts);
    for (DimRef dim : home) {
      int64_t devices = 1;
      for (StringAttr axis : dim.axes) {
        FailureOr<int64_t> size = sizeOf(axis);
        if (failed(size))
          return failure();
        if (*size == 0 || llvm::MulOverflow(devices, *size, devices))
          return success();
      }
      int64_t extent = dim.extent.factor();
      if (dim.extent.isNumber() && !maySplit(extent, dim.rule, devices))
        return op->emitOpError()
               << "has a set that lies as [" << splitText(dim) << "], but "
               << productText(mesh(), dim.axes) << " = " << devices
               << " does not divide " << extent;
    }
    return success();
  }

  LogicalResult verifySplit(const TensorView &view, unsigned index,
                            int64_t devices) {
    DimRef dim = view.dim(index);
    int64_t extent = view.getType().getDimSize(index);
    if (maySplit(extent, dim.rule, devices))
      return success();
    std::string name = productText(mesh(), dim.axes);
    InFlightDiagnostic diag = op->emitOpError();
    diag << name << " = " << devices << " does not divide " << extent
         << (dim.rule == SplitRule::cap ? ", nor the other way round" : "")
         << ", " << dimensionText(op, index);
    diag.attachNote() << name
                      << " that works here: " << sizesText([&](int64_t n) {
                           return maySplit(extent, dim.rule, n);
                         });
    return diag;
  }

  LogicalResult verifySymbols(NamedExtent extent) {
    if (!extent.isSymbolic() || !workload())
      return success();
    for (StringRef symbol : extent.symbols())
      if (!llvm::is_contained(workload().getSymbols(), symbol))
        return op->emitOpError()
               << "uses the symbol '" << symbol
               << "', to which the module's workload gives no value";
    return success();
  }

  FailureOr<int64_t> sizeOf(StringAttr axis) {
    std::optional<int64_t> size;
    if (mesh())
      size = mesh().getAxisSize(axis);
    if (size)
      return *size;
    InFlightDiagnostic diag = op->emitOpError();
    diag << "uses axis '" << axis.getValue() << "', ";
    if (!mesh())
      diag << "but the module has no mesh";
    else
      diag << "which the module's mesh does not have";
    diag.attachNote() << "declare it: parallel.mesh(" << axis.getValue()
                      << " = ?)";
    return diag;
  }

  // Finds the mesh when it is first needed: many ops use no axis, some no
  // symbol.
  DeviceMeshOpInterface mesh() {
    if (!foundMesh)
      foundMesh = findMesh(op);
    return *foundMesh;
  }
  SymbolBindingOpInterface workload() {
    if (!foundWorkload)
      foundWorkload = findWorkload(op);
    return *foundWorkload;
  }

  Operation *op;
  std::optional<DeviceMeshOpInterface> foundMesh;
  std::optional<SymbolBindingOpInterface> foundWorkload;
};

} // namespace

LogicalResult autopar::verifyEncodings(Operation *op) {
  EncodingVerifier verifier(op);
  // Most ops have several tensors of one type, each of which is verified once.
  SmallVector<Type, 4> verified;
  for (Type type :
       llvm::concat<const Type>(llvm::to_vector(op->getOperandTypes()),
                                llvm::to_vector(op->getResultTypes()))) {
    if (llvm::is_contained(verified, type))
      continue;
    if (failed(verifier.verify(type)))
      return failure();
    verified.push_back(type);
  }
  return success();
}
