//===- FactorVerifier.cpp - Types against the factors of an op ------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Interfaces/Interfaces.h"

#include "llvm/ADT/SetVector.h"

using namespace autopar;
using namespace autopar::program;
using namespace mlir;

SmallVector<StringAttr, 4>
autopar::mergeAxes(ArrayRef<int32_t> parts,
                   function_ref<ArrayRef<StringAttr>(int32_t)> axesOf) {
  SmallVector<StringAttr, 4> axes;
  for (int32_t part : parts)
    llvm::append_range(axes, axesOf(part));
  return axes;
}

bool autopar::haveSameAxes(ArrayRef<StringAttr> a, ArrayRef<StringAttr> b) {
  return a.size() == b.size() && llvm::all_of(a, [&](StringAttr axis) {
           return llvm::is_contained(b, axis);
         });
}

namespace {

/// One tensor of an op, with its factors.
struct Tensor {
  Operation *op;
  /// Its index: operands are counted first, then results.
  unsigned index;
  TensorView view;
  ArrayRef<int32_t> factors;
  /// The factor by which the tensor is grouped, or `none`.
  int32_t experts;

  std::string name() const {
    unsigned operands = op->getNumOperands();
    if (index < operands)
      return "operand #" + std::to_string(index);
    return op->getNumResults() == 1
               ? "the result"
               : "result #" + std::to_string(index - operands);
  }
};

/// The first dimension that was found for a factor; later ones must agree with
/// it.
struct Witness {
  const Tensor *tensor = nullptr;
  unsigned dim = 0;

  std::string str() const {
    return "dimension " + std::to_string(dim) + " of " + tensor->name();
  }
};

class FactorVerifier {
public:
  FactorVerifier(Operation *op, const ShardingFactors &factors)
      : op(op), factors(factors) {}

  LogicalResult verify() {
    if (failed(collect()))
      return failure();
    witnesses.resize(factors.kinds.size());
    for (const Tensor &tensor : tensors)
      for (unsigned dim = 0; dim < tensor.view.rank(); ++dim)
        if (failed(verifyDim(tensor, dim)))
          return failure();
    for (const Tensor &tensor : tensors)
      for (unsigned dim = 0; dim < tensor.view.rank(); ++dim)
        if (failed(verifyMerged(tensor, dim)) ||
            failed(verifyGrouping(tensor, dim)))
          return failure();
    return verifyPartial();
  }

private:
  LogicalResult collect() {
    for (auto [i, operand] : llvm::enumerate(op->getOperands()))
      if (failed(add(operand.getType(), factors.operands[i],
                     factors.expertsOfOperand(i))))
        return failure();
    for (auto [i, result] : llvm::enumerate(op->getResults()))
      if (failed(add(result.getType(), factors.results[i],
                     factors.expertsOfResult(i))))
        return failure();
    return success();
  }

  LogicalResult add(Type type, ArrayRef<int32_t> dims, int32_t experts) {
    unsigned index = tensors.size();
    Tensor tensor{op, index, TensorView(type), dims, experts};
    if (tensor.view.rank() != dims.size())
      return op->emitOpError()
             << tensor.name() << " has rank " << tensor.view.rank()
             << ", expected " << dims.size();
    tensors.push_back(tensor);
    return success();
  }

  LogicalResult verifyDim(const Tensor &tensor, unsigned dim) {
    int32_t factor = tensor.factors[dim];
    FactorKind kind = factors.kinds[factor];
    DimRef ref = tensor.view.dim(dim);
    if (kind == FactorKind::merged)
      return success();
    if (ref.rule == SplitRule::ring && !ref.axes.empty())
      return verifyRing(tensor, dim, kind);
    if (mustBeWhole(kind) && !ref.isWhole())
      return op->emitOpError()
             << "needs dimension " << dim << " of " << tensor.name()
             << " whole, but it is split over "
             << axesText(ref.axes.empty() ? ref.grouped : ref.axes);
    if (!ref.axes.empty() && !factors.maySplitBy(factor, ref.rule))
      return op->emitOpError()
             << "sums over dimension " << dim << " of " << tensor.name()
             << ", which is split by "
             << (ref.rule == SplitRule::cap ? "'cap': replicas"
                                            : "'pad': padding")
             << " would be added, too";
    Witness &witness = witnesses[factor];
    if (!witness.tensor) {
      witness = {&tensor, dim};
      return success();
    }
    return verifyAgreement(witness, tensor, dim, kind);
  }

  /// A dimension that is passed around a ring must be summed over, or seen as a
  /// whole, by the op.
  LogicalResult verifyRing(const Tensor &tensor, unsigned dim,
                           FactorKind kind) {
    if (kind == FactorKind::reduction || kind == FactorKind::seen)
      return success();
    return op->emitOpError() << "cannot work on dimension " << dim << " of "
                             << tensor.name() << " part by part";
  }

  LogicalResult verifyAgreement(const Witness &witness, const Tensor &tensor,
                                unsigned dim, FactorKind kind) {
    const TensorView &first = witness.tensor->view;
    DimRef ref = tensor.view.dim(dim), other = first.dim(witness.dim);
    bool sameExtent = tensor.view.extent(dim) == first.extent(witness.dim);
    if (kind != FactorKind::grouped && !sameExtent)
      return op->emitOpError()
             << "dimension " << dim << " of " << tensor.name() << " is "
             << tensor.view.extentText(dim) << ", but " << witness.str()
             << " is " << first.extentText(witness.dim);
    if (ref.axes != other.axes)
      return op->emitOpError()
             << "dimension " << dim << " of " << tensor.name()
             << " is split over " << axesText(ref.axes) << ", but "
             << witness.str() << " over " << axesText(other.axes);
    if (isPlain(ref) && isPlain(other))
      return success();
    if (tensor.experts == ShardingFactors::none &&
        (ref.grouped != other.grouped ||
         !(tensor.view.experts(dim) == first.experts(witness.dim))))
      return refuseGrouping(tensor, dim, first.experts(witness.dim));
    if (tensor.view.tokens(dim) != first.tokens(witness.dim))
      return refuseTokens(tensor, dim, first.tokens(witness.dim));
    if (!ref.axes.empty() && !areSplitAlike(ref, other, sameExtent, kind))
      return op->emitOpError()
             << "dimension " << dim << " of " << tensor.name()
             << " is split by another rule than " << witness.str();
    return success();
  }

  /// Whether a dimension is neither a set nor split.
  static bool isPlain(DimRef ref) { return ref.isWhole() && !ref.isSet(); }

  /// Whether two splits over the same axes give each device the same part.
  /// Query heads are on the device of the key-value heads that they share only
  /// if both splits are even.
  static bool areSplitAlike(DimRef a, DimRef b, bool sameExtent,
                            FactorKind kind) {
    auto isEven = [](DimRef ref) {
      return ref.rule == SplitRule::plain || ref.rule == SplitRule::cap;
    };
    if (kind == FactorKind::grouped && isEven(a) && isEven(b))
      return true;
    return sameExtent && a.rule == b.rule && a.multiple == b.multiple;
  }

  ArrayRef<StringAttr> axesOf(int32_t factor) const {
    const Witness &witness = witnesses[factor];
    return witness.tensor ? witness.tensor->view.dim(witness.dim).axes
                          : ArrayRef<StringAttr>();
  }

  LogicalResult verifyMerged(const Tensor &tensor, unsigned dim) {
    int32_t factor = tensor.factors[dim];
    if (factors.kinds[factor] != FactorKind::merged)
      return success();
    ArrayRef<StringAttr> found = tensor.view.dim(dim).axes;
    ArrayRef<int32_t> parts = factors.parts.find(factor)->second;
    auto expected =
        mergeAxes(parts, [&](int32_t part) { return axesOf(part); });
    if (haveSameAxes(found, expected))
      return verifyTokens(tensor, dim, parts);
    return op->emitOpError()
           << "dimension " << dim << " of " << tensor.name()
           << " is split over " << axesText(found)
           << ", expected the axes of its tokens, " << axesText(expected);
  }

  /// Verifies that a set is split as its tokens are.
  LogicalResult verifyTokens(const Tensor &tensor, unsigned dim,
                             ArrayRef<int32_t> parts) {
    if (tensor.view.dim(dim).axes.empty())
      return success();
    SmallVector<DimRef> expected;
    for (int32_t part : parts)
      if (const Witness &witness = witnesses[part];
          factors.kinds[part] != FactorKind::whole && witness.tensor) {
        expected.push_back(witness.tensor->view.dim(witness.dim));
        expected.back().extent = witness.tensor->view.extent(witness.dim);
      }
    return tensor.view.tokens(dim) == expected
               ? success()
               : refuseTokens(tensor, dim, expected);
  }

  LogicalResult refuseTokens(const Tensor &tensor, unsigned dim,
                             ArrayRef<DimRef> expected) {
    InFlightDiagnostic diag = op->emitOpError()
                              << "has rows of " << tensor.name() << " where [";
    auto print = [&](ArrayRef<DimRef> tokens) {
      llvm::interleaveComma(tokens, diag,
                            [&](DimRef ref) { diag << splitText(ref); });
    };
    print(tensor.view.tokens(dim));
    diag << "] are, but its tokens are [";
    print(expected);
    return diag << "]";
  }

  /// Verifies that a set is not grouped, or is grouped as its experts are
  /// split.
  LogicalResult verifyGrouping(const Tensor &tensor, unsigned dim) {
    DimRef ref = tensor.view.dim(dim);
    bool merged = factors.kinds[tensor.factors[dim]] == FactorKind::merged;
    bool byExperts = tensor.experts != ShardingFactors::none;
    if (!ref.isSet() || (!merged && !byExperts))
      return success();
    if (byExperts && factors.kinds[tensor.experts] == FactorKind::reduction)
      return success();
    DimRef expected;
    if (byExperts && witnesses[tensor.experts].tensor) {
      const Witness &weight = witnesses[tensor.experts];
      expected = weight.tensor->view.dim(weight.dim);
      expected.extent = weight.tensor->view.extent(weight.dim);
    }
    bool isWhole = ref.grouped.empty() && expected.axes.empty();
    bool same = haveSameAxes(ref.grouped, expected.axes) &&
                tensor.view.experts(dim) == expected;
    return isWhole || same ? success() : refuseGrouping(tensor, dim, expected);
  }

  LogicalResult refuseGrouping(const Tensor &tensor, unsigned dim,
                               DimRef expected) {
    DimRef ref = tensor.view.dim(dim);
    InFlightDiagnostic diag = op->emitOpError() << tensor.name() << " is ";
    if (ref.grouped.empty())
      diag << "not grouped";
    else
      diag << "grouped over " << axesText(ref.grouped) << " of the experts ["
           << splitText(tensor.view.experts(dim)) << "]";
    if (expected.axes.empty())
      return diag << ", expected no grouping";
    return diag << ", expected 'grouped [" << splitText(expected) << "]'";
  }

  using AxisSet = llvm::SmallSetVector<StringAttr, 4>;

  /// Returns the axes of the split dimensions over which `result` is a sum.
  AxisSet reducedAxes(unsigned result) {
    AxisSet axes;
    for (int32_t factor = 0, end = factors.kinds.size(); factor < end; ++factor)
      if (factors.isSummedBy(result, factor))
        axes.insert_range(axesOf(factor));
    for (const Tensor &tensor : tensors)
      if (tensor.experts != ShardingFactors::none &&
          factors.kinds[tensor.experts] == FactorKind::reduction)
        for (unsigned dim = 0; dim < tensor.view.rank(); ++dim)
          axes.insert_range(tensor.view.dim(dim).grouped);
    return axes;
  }

  /// Returns the axes over which `result` must be partial.
  FailureOr<AxisSet> expectedPartial(unsigned result) {
    AxisSet axes = reducedAxes(result);
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
             << "is not linear in " << first.name()
             << " alone, which is a partial sum over "
             << axesText(first.view.partialAxes()) << ": reduce it first";
    for (unsigned i : partial)
      if (!haveSameAxes(tensors[i].view.partialAxes(),
                        first.view.partialAxes()))
        return op->emitOpError() << "adds partial sums over different axes";
    axes.insert_range(first.view.partialAxes());
    return axes;
  }

  LogicalResult verifyPartial() {
    for (unsigned result = 0; result < op->getNumResults(); ++result) {
      FailureOr<AxisSet> expected = expectedPartial(result);
      if (failed(expected))
        return failure();
      const Tensor &tensor = tensors[op->getNumOperands() + result];
      // Values that are passed around a ring are summed on their way, so that
      // they are not partial over its axes.
      for (unsigned dim = 0; dim < tensor.view.rank(); ++dim)
        if (DimRef ref = tensor.view.dim(dim); ref.rule == SplitRule::ring)
          expected->set_subtract(ref.axes);
      ArrayRef<StringAttr> found = tensor.view.partialAxes();
      if (!haveSameAxes(found, expected->getArrayRef()))
        return op->emitOpError()
               << tensor.name() << " is partial over " << axesText(found)
               << ", expected " << axesText(expected->getArrayRef());
    }
    return success();
  }

  Operation *op;
  const ShardingFactors &factors;
  SmallVector<Tensor> tensors;
  SmallVector<Witness> witnesses;
};

} // namespace

/// Emits an error that lists the ranks of an op's tensors, which the op cannot
/// have.
static LogicalResult refuseRanks(Operation *op) {
  InFlightDiagnostic diag = op->emitOpError("cannot work on operands of rank ");
  llvm::interleaveComma(op->getOperands(), diag, [&](Value operand) {
    diag << TensorView(operand).rank();
  });
  return diag << " with a result of rank "
              << TensorView(op->getResult(0)).rank();
}

LogicalResult autopar::verifySharding(Operation *op) {
  // Interfaces are verified before the op itself, which checks ranks; factors
  // are built only from types that can have them.
  for (Type type : op->getOperandTypes())
    if (!tensorOf(type))
      return success();
  ShardingFactors factors = cast<ShardingOpInterface>(op).getShardingFactors();
  if (factors.operands.size() != op->getNumOperands())
    return refuseRanks(op);
  return FactorVerifier(op, factors).verify();
}
