//===- ShardTensor.cpp ----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Transforms/Passes.h"

#include "SplitRequests.h"
#include "TypePropagation.h"
#include "autopar/Support/Limits.h"
#include "autopar/Transforms/Layouts.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

namespace autopar {
#define GEN_PASS_DEF_SHARDTENSORPASS
#include "autopar/Transforms/Passes.h.inc"
} // namespace autopar

using namespace autopar;
using namespace autopar::parallel;
using namespace mlir;

/// Whether `n` devices may split `extent` by `rule`.
static bool divides(int64_t extent, SplitRule rule, int64_t n) {
  if (rule == SplitRule::plain)
    return extent % n == 0;
  if (rule == SplitRule::cap)
    return extent % n == 0 || n % extent == 0;
  return true;
}

static int64_t extentOf(const SplitRequests::Source &source) {
  return TensorView(source.value).getType().getDimSize(source.dim);
}

namespace {

struct ShardTensorPass : autopar::impl::ShardTensorPassBase<ShardTensorPass> {
  using Base::Base;

  void runOnModule() override {
    ModuleOp module = getOperation();
    axisName = StringAttr::get(&getContext(), axis);
    DeviceMeshOpInterface mesh = findMesh(module);
    std::optional<int64_t> size;
    if (mesh)
      size = mesh.getAxisSize(axis);
    if (!size) {
      InFlightDiagnostic diag = module.emitError()
                                << "the module has no mesh axis '" << axis
                                << "' to split over";
      diag.attachNote() << "declare it: parallel.mesh @mesh(" << axis
                        << " = ?), or give --shard-tp=N";
      return signalPassFailure();
    }
    if (vocabularyMultiple < 1 || vocabularyMultiple > limits::maxDimension) {
      module.emitError() << "vocabulary-multiple = "
                         << vocabularyMultiple.getValue()
                         << ", expected a positive number";
      return signalPassFailure();
    }
    if (isInUse(module))
      return;
    original.clear();
    resplit.clear();
    auto functions = llvm::to_vector(module.getOps<FunctionOpInterface>());
    SmallVector<SplitRequests::Source> sources, gathered;
    for (FunctionOpInterface function : functions) {
      SplitRequests requests(function);
      llvm::append_range(sources, requests.sources());
      llvm::append_range(gathered, requests.gathered());
    }
    if (failed(verifySize(sources, *size)))
      return signalPassFailure();
    for (const SplitRequests::Source &source : sources)
      split(source);
    for (const SplitRequests::Source &result : gathered) {
      Type &type = resplit[result.value];
      type = splitType(type ? type : result.value.getType(), result);
    }
    for (FunctionOpInterface function : functions)
      propagateTypes(function, original, resplit);
  }

  /// Whether some value is split or partial over the axis already.
  bool isInUse(ModuleOp module) {
    WalkResult result = module.walk([&](Operation *op) {
      for (Type type : op->getResultTypes())
        if (auto tensor = dyn_cast<RankedTensorType>(type))
          if (Layout::of(tensor).uses(axisName))
            return WalkResult::interrupt();
      return WalkResult::advance();
    });
    return result.wasInterrupted();
  }

  /// Refuses a size that some dimension does not allow, naming those that all
  /// of them do.
  LogicalResult verifySize(ArrayRef<SplitRequests::Source> sources,
                           int64_t size) {
    auto allow = [&](int64_t n) {
      return llvm::all_of(sources, [&](const SplitRequests::Source &source) {
        return divides(extentOf(source), source.rule, n);
      });
    };
    for (const SplitRequests::Source &source : sources) {
      if (size == 0 || divides(extentOf(source), source.rule, size))
        continue;
      std::string sizes;
      constexpr int64_t largest = 1024;
      for (int64_t n = 1; n <= largest; ++n)
        if (allow(n))
          sizes += (sizes.empty() ? "" : ", ") + std::to_string(n);
      InFlightDiagnostic diag = source.value.getOwner()->emitOpError();
      diag << axis << " = " << size << " does not divide " << extentOf(source)
           << ", dimension " << source.dim;
      if (auto name =
              source.value.getOwner()->getAttrOfType<StringAttr>("name"))
        diag << " of " << name;
      diag.attachNote() << axis << " that works for this model: " << sizes;
      return diag;
    }
    return success();
  }

  void split(const SplitRequests::Source &source) {
    OpResult value = source.value;
    RankedTensorType type = TensorView(value).getType();
    RankedTensorType split = splitType(type, source);
    if (split == type)
      return;
    original.try_emplace(value, type);
    value.setType(split);
  }

  /// `type` with the requested split, where the axis is not in use yet.
  RankedTensorType splitType(Type type, const SplitRequests::Source &request) {
    auto tensor = cast<RankedTensorType>(type);
    Layout layout = Layout::of(tensor);
    if (layout.uses(axisName))
      return tensor;
    DimAttr &dim = layout.dims[request.dim];
    SmallVector<StringAttr> axes(dim.getAxes());
    axes.push_back(axisName);
    dim = DimAttr::get(
        &getContext(), dim.getExtent(), axes, request.rule,
        request.rule == SplitRule::pad ? vocabularyMultiple.getValue() : 1);
    return withLayout(tensor, layout);
  }

  StringAttr axisName;
  /// Types of weights and caches before they were split.
  DenseMap<Value, Type> original;
  /// What results that are computed whole are split into again.
  DenseMap<Value, Type> resplit;
};

} // namespace
