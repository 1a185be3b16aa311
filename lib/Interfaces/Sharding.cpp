//===- Sharding.cpp -------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Interfaces/Sharding.h"

#include "autopar/Interfaces/Interfaces.h"
#include "autopar/Support/Limits.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/CallInterfaces.h"

using namespace autopar;
using namespace mlir;

#include "autopar/Interfaces/Interfaces.cpp.inc"

std::string autopar::axesText(ArrayRef<StringAttr> axes) {
  std::string text = "[";
  for (StringAttr axis : axes)
    text += (text.size() > 1 ? ", " : "") + axis.getValue().str();
  return text + "]";
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

SmallVector<FunctionOpInterface> autopar::findStoredFunctions(ModuleOp module) {
  DenseSet<Attribute> called;
  module.walk([&](CallOpInterface call) {
    if (auto callee = dyn_cast<SymbolRefAttr>(call.getCallableForCallee()))
      called.insert(callee.getRootReference());
  });
  SmallVector<FunctionOpInterface> stored;
  for (auto function : module.getOps<FunctionOpInterface>())
    if (function.isPrivate() && !function.isDeclaration() &&
        !called.contains(function.getNameAttr()))
      stored.push_back(function);
  return stored;
}

//===----------------------------------------------------------------------===//
// Encodings against the module
//===----------------------------------------------------------------------===//

/// Divisors of `extent` up to `limit`, as a hint of what would work.
static std::string divisorsText(int64_t extent, int64_t limit = 64) {
  std::string text;
  for (int64_t n = 1; n <= std::min(extent, limit); ++n)
    if (extent % n == 0)
      text += (text.empty() ? "" : ", ") + std::to_string(n);
  return text;
}

static LogicalResult verifySplit(Operation *op, DimRef dim, int64_t extent,
                                 int64_t devices) {
  bool fits = true;
  if (dim.rule == SplitRule::plain)
    fits = extent % devices == 0;
  else if (dim.rule == SplitRule::cap)
    fits = extent % devices == 0 || devices % extent == 0;
  if (fits)
    return success();
  InFlightDiagnostic diag = op->emitOpError()
                            << "splits an extent of " << extent << " over "
                            << axesText(dim.axes) << ", " << devices
                            << " devices, which do not divide it";
  diag.attachNote() << "sizes that work: " << divisorsText(extent);
  return diag;
}

namespace {

/// Checks the types of one op against the mesh and the workload around it.
class EncodingVerifier {
public:
  explicit EncodingVerifier(Operation *op)
      : op(op), mesh(findMesh(op)), workload(findWorkload(op)) {}

  LogicalResult verify(Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
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
    if (!dim.extent.empty())
      if (failed(verifySymbols(dim.extent)))
        return failure();
    if (dim.extent.empty() &&
        (view.getType().isDynamicDim(index) ||
         view.getType().getDimSize(index) < 1 ||
         view.getType().getDimSize(index) > limits::maxDimension))
      return op->emitOpError()
             << "has a tensor dimension of " << view.extentText(index)
             << ", expected 1 to " << limits::maxDimension << " or a symbol";
    bool sized = true;
    int64_t devices = 1;
    for (StringAttr axis : dim.grouped)
      if (failed(sizeOf(axis)))
        return failure();
    for (StringAttr axis : dim.axes) {
      FailureOr<int64_t> size = sizeOf(axis);
      if (failed(size))
        return failure();
      sized &= *size != 0 && !llvm::MulOverflow(devices, *size, devices);
    }
    if (!sized || !dim.extent.empty() || dim.axes.empty())
      return success();
    return verifySplit(op, dim, view.getType().getDimSize(index), devices);
  }

  LogicalResult verifySymbols(StringRef extent) {
    std::optional<ExtentProduct> product = parseExtent(extent);
    if (!product || !workload)
      return success();
    for (StringRef symbol : product->symbols)
      if (!llvm::is_contained(workload.getSymbols(), symbol))
        return op->emitOpError()
               << "uses the symbol '" << symbol
               << "', to which the module's workload gives no value";
    return success();
  }

  FailureOr<int64_t> sizeOf(StringAttr axis) {
    std::optional<int64_t> size;
    if (mesh)
      size = mesh.getAxisSize(axis);
    if (size)
      return *size;
    InFlightDiagnostic diag = op->emitOpError();
    diag << "uses axis '" << axis.getValue() << "', ";
    if (!mesh)
      diag << "but the module has no mesh";
    else
      diag << "which the module's mesh does not have";
    diag.attachNote() << "declare it: parallel.mesh @mesh(" << axis.getValue()
                      << " = ?)";
    return diag;
  }

  Operation *op;
  DeviceMeshOpInterface mesh;
  SymbolBindingOpInterface workload;
};

} // namespace

LogicalResult autopar::verifyEncodings(Operation *op) {
  EncodingVerifier verifier(op);
  for (Type type : op->getOperandTypes())
    if (failed(verifier.verify(type)))
      return failure();
  for (Type type : op->getResultTypes())
    if (failed(verifier.verify(type)))
      return failure();
  return success();
}
