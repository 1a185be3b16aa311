//===- ShardTensor.cpp ----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Transforms/Passes.h"

#include "Propagation.h"
#include "Seeds.h"
#include "SplitRequests.h"
#include "autopar/Support/Limits.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

#include <map>

namespace autopar::transforms {
#define GEN_PASS_DEF_SHARDTENSORPASS
#include "autopar/Transforms/Passes.h.inc"
} // namespace autopar::transforms

using namespace autopar;
using namespace autopar::program;
using namespace autopar::transforms;
using namespace mlir;

static int64_t extentOf(const SplitRequests::Seed &source) {
  return TensorView(source.value).getType().getDimSize(source.dim);
}

namespace {

struct ShardTensorPass
    : autopar::transforms::impl::ShardTensorPassBase<ShardTensorPass> {
  using Base::Base;

  void runOnModule() override {
    ModuleOp module = getOperation();
    FailureOr<int64_t> multiple = readMultiple(module);
    if (failed(readAxes(module)) || failed(multiple))
      return signalPassFailure();
    SmallVector<SplitRequests::Seed> sources;
    // Functions of backwards and updates share the weights of their forwards.
    for (auto function : module.getOps<FunctionOpInterface>())
      if (findWhole(function) == function)
        llvm::append_range(
            sources, SplitRequests::ofTensorParallelism(function).sources());
    bool changed = false;
    for (const SplitRequests::Seed &source : sources) {
      ArrayRef<StringAttr> over = axesOf(source);
      if (failed(verifySize(sources, source)))
        return signalPassFailure();
      Seeds seeds(module, over);
      seeds.splitSource(source.value, source.dim, source.rule,
                        source.rule == SplitRule::pad ? *multiple : 1);
      changed |= seeds.changed();
    }
    if (changed)
      propagateSplits(module);
  }

private:
  LogicalResult readAxes(ModuleOp module) {
    auto read = [&](SmallVector<StringAttr> &over,
                    ArrayRef<std::string> names) -> LogicalResult {
      FailureOr<SmallVector<StringAttr>> found =
          findAxes(module, names, "--shard-tp");
      if (succeeded(found))
        over = *found;
      return found;
    };
    using Role = TensorParallelRole;
    std::string tensor = "tp";
    ArrayRef<std::string> all = orElse(axes, tensor);
    ArrayRef<std::string> attention = orElse(attentionAxes, all);
    return success(
        succeeded(read(axesByRole[Role::dense], orNone(axes, all))) &&
        succeeded(read(axesByRole[Role::attention], orNone(attention, all))) &&
        succeeded(read(axesByRole[Role::channels], orNone(attention, all))) &&
        succeeded(read(axesByRole[Role::experts], orNone(expertAxes, all))) &&
        succeeded(read(axesOfKeys, orNone(keyAxes, attention))));
  }

  /// Whether a source belongs to key-value heads: its split rule is `cap`, or
  /// attention itself reads it.
  static bool isOfKeys(const SplitRequests::Seed &source) {
    if (source.rule == SplitRule::cap)
      return true;
    return llvm::any_of(source.value.getUsers(), [](Operation *user) {
      auto op = dyn_cast<ShardingOpInterface>(user);
      auto factor = op ? op.getTensorParallelFactor() : std::nullopt;
      return factor && factor->role == TensorParallelRole::attention;
    });
  }

  /// Returns the number to a multiple of which the vocabulary is padded.
  FailureOr<int64_t> readMultiple(ModuleOp module) {
    if (vocabularyMultiple == 0) {
      const TargetAnalysis &target = getTarget();
      if (!target.isValid())
        return failure();
      return static_cast<int64_t>(target.getRuntime().vocabularyMultiple.value);
    }
    if (vocabularyMultiple >= 1 && vocabularyMultiple <= limits::maxDimension)
      return vocabularyMultiple.getValue();
    return module.emitError()
           << "vocabulary-multiple = " << vocabularyMultiple.getValue()
           << ", expected a positive number";
  }

  /// Returns the number of devices of the axes `over`; 0 if a size is open.
  int64_t sizeOf(ArrayRef<StringAttr> over) {
    DeviceMeshOpInterface mesh = findMesh(getOperation());
    int64_t size = 1;
    for (StringAttr axis : over)
      size *= mesh.getAxisSize(axis).value_or(0);
    return size;
  }

  ArrayRef<StringAttr> axesOf(const SplitRequests::Seed &source) {
    return isOfKeys(source) ? axesOfKeys : axesByRole[source.role];
  }

  /// Emits an error for a size that `source` does not allow, with the sizes
  /// that all sources over these axes allow.
  LogicalResult verifySize(ArrayRef<SplitRequests::Seed> all,
                           const SplitRequests::Seed &source) {
    ArrayRef<StringAttr> over = axesOf(source);
    int64_t size = sizeOf(over);
    if (size == 0 || maySplit(extentOf(source), source.rule, size))
      return success();
    std::string name = productText(findMesh(getOperation()), over);
    Operation *op = source.value.getDefiningOp();
    InFlightDiagnostic diag = op->emitOpError();
    diag << name << " = " << size << " does not divide " << extentOf(source)
         << ", " << dimensionText(op, source.dim);
    diag.attachNote() << name << " that works for this model: "
                      << sizesText([&](int64_t n) {
                           return mayAllSplit(all, over, n);
                         });
    return diag;
  }

  bool mayAllSplit(ArrayRef<SplitRequests::Seed> all, ArrayRef<StringAttr> over,
                   int64_t devices) {
    return llvm::all_of(all, [&](const SplitRequests::Seed &other) {
      return axesOf(other) != over ||
             maySplit(extentOf(other), other.rule, devices);
    });
  }

  std::map<TensorParallelRole, SmallVector<StringAttr>> axesByRole;
  SmallVector<StringAttr> axesOfKeys;
};

} // namespace
