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
#include "llvm/ADT/SetVector.h"

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
// Factors
//===----------------------------------------------------------------------===//

namespace {

/// One tensor of an op, with the words to speak of it.
struct Tensor {
  TensorView view;
  ArrayRef<int32_t> factors;
  std::string name;
};

/// The first dimension seen of a factor; others must agree with it.
struct Witness {
  const Tensor *tensor = nullptr;
  unsigned dim = 0;

  std::string str() const {
    return "dimension " + std::to_string(dim) + " of " + tensor->name;
  }
};

class FactorVerifier {
public:
  FactorVerifier(Operation *op, ShardingFactors factors)
      : op(op), factors(std::move(factors)) {}

  LogicalResult verify() {
    if (failed(collect()))
      return failure();
    witnesses.resize(factors.kinds.size());
    for (const Tensor &tensor : tensors)
      for (unsigned dim = 0; dim < tensor.view.rank(); ++dim)
        if (failed(verifyDim(tensor, dim)))
          return failure();
    return verifyPartial();
  }

private:
  LogicalResult collect() {
    for (auto [i, operand] : llvm::enumerate(op->getOperands()))
      if (failed(add(operand.getType(), factors.operands[i],
                     "operand #" + std::to_string(i))))
        return failure();
    for (auto [i, result] : llvm::enumerate(op->getResults()))
      if (failed(add(result.getType(), factors.results[i],
                     op->getNumResults() == 1
                         ? "the result"
                         : "result #" + std::to_string(i))))
        return failure();
    return success();
  }

  LogicalResult add(Type type, ArrayRef<int32_t> dims, std::string name) {
    TensorView view(type);
    if (view.rank() != dims.size())
      return op->emitOpError() << name << " has rank " << view.rank()
                               << ", expected " << dims.size();
    tensors.push_back({view, dims, std::move(name)});
    return success();
  }

  LogicalResult verifyDim(const Tensor &tensor, unsigned dim) {
    int32_t factor = tensor.factors[dim];
    FactorKind kind = factors.kinds[factor];
    DimRef ref = tensor.view.dim(dim);
    if (mustBeWhole(kind) && !ref.axes.empty())
      return op->emitOpError()
             << "needs dimension " << dim << " of " << tensor.name
             << " whole, but it is split over " << axesText(ref.axes);
    Witness &witness = witnesses[factor];
    if (!witness.tensor) {
      witness = {&tensor, dim};
      return success();
    }
    return verifyAgreement(witness, tensor, dim, kind);
  }

  LogicalResult verifyAgreement(const Witness &witness, const Tensor &tensor,
                                unsigned dim, FactorKind kind) {
    const TensorView &first = witness.tensor->view;
    DimRef ref = tensor.view.dim(dim), other = first.dim(witness.dim);
    if (kind != FactorKind::grouped &&
        first.extentText(witness.dim) != tensor.view.extentText(dim))
      return op->emitOpError()
             << "dimension " << dim << " of " << tensor.name << " is "
             << tensor.view.extentText(dim) << ", but " << witness.str()
             << " is " << first.extentText(witness.dim);
    if (ref.axes != other.axes)
      return op->emitOpError()
             << "dimension " << dim << " of " << tensor.name
             << " is split over " << axesText(ref.axes) << ", but "
             << witness.str() << " over " << axesText(other.axes);
    if (kind != FactorKind::grouped && !ref.axes.empty() &&
        (ref.rule != other.rule || ref.multiple != other.multiple))
      return op->emitOpError()
             << "dimension " << dim << " of " << tensor.name
             << " is split by another rule than " << witness.str();
    return success();
  }

  using AxisSet = llvm::SmallSetVector<StringAttr, 4>;

  /// Axes that the results must be partial over.
  FailureOr<AxisSet> expectedPartial() {
    AxisSet axes;
    for (auto [factor, kind] : llvm::enumerate(factors.kinds))
      if (kind == FactorKind::reduction && witnesses[factor].tensor) {
        const Witness &witness = witnesses[factor];
        axes.insert_range(witness.tensor->view.dim(witness.dim).axes);
      }
    if (!axes.empty() && factors.linear.empty())
      return op->emitOpError()
             << "sums over " << axesText(axes.getArrayRef())
             << " and adds a bias, which every device would add: add it after "
                "the reduction";
    SmallVector<unsigned> partial;
    for (unsigned i = 0; i < op->getNumOperands(); ++i)
      if (!tensors[i].view.partialAxes().empty())
        partial.push_back(i);
    if (partial.empty())
      return axes;
    const Tensor &first = tensors[partial.front()];
    if (!llvm::is_contained(factors.linear, partial))
      return op->emitOpError()
             << "is not linear in " << first.name
             << " alone, which is a partial sum over "
             << axesText(first.view.partialAxes()) << ": reduce it first";
    for (unsigned i : partial)
      if (tensors[i].view.partialAxes() != first.view.partialAxes())
        return op->emitOpError() << "adds partial sums over different axes";
    axes.insert_range(first.view.partialAxes());
    return axes;
  }

  LogicalResult verifyPartial() {
    FailureOr<AxisSet> expected = expectedPartial();
    if (failed(expected))
      return failure();
    for (const Tensor &tensor :
         ArrayRef(tensors).drop_front(op->getNumOperands())) {
      ArrayRef<StringAttr> found = tensor.view.partialAxes();
      bool same = found.size() == expected->size() &&
                  llvm::all_of(found, [&](StringAttr axis) {
                    return expected->contains(axis);
                  });
      if (!same)
        return op->emitOpError()
               << tensor.name << " is partial over " << axesText(found)
               << ", expected " << axesText(expected->getArrayRef());
    }
    return success();
  }

  Operation *op;
  ShardingFactors factors;
  SmallVector<Tensor> tensors;
  SmallVector<Witness> witnesses;
};

} // namespace

/// The ranks that an op has, which are not those it can have.
static LogicalResult refuseRanks(Operation *op) {
  InFlightDiagnostic diag = op->emitOpError("cannot work on operands of rank ");
  llvm::interleaveComma(op->getOperands(), diag, [&](Value operand) {
    diag << TensorView(operand).rank();
  });
  return diag << " with a result of rank "
              << TensorView(op->getResult(0)).rank();
}

LogicalResult autopar::verifySharding(Operation *op) {
  // The verifiers of op interfaces run before the op's own, which checks
  // ranks: factors are built only from types that can have them.
  for (Type type : op->getOperandTypes())
    if (!isa<RankedTensorType>(type))
      return success();
  ShardingFactors factors = cast<ShardingOpInterface>(op).getShardingFactors();
  if (factors.operands.size() != op->getNumOperands())
    return refuseRanks(op);
  return FactorVerifier(op, std::move(factors)).verify();
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
